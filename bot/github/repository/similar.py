"""The issues that GitHub itself ranks as most like one (F8a).

No manual of GitHub's describes the endpoint yet; github/github-mcp-server uses it (`pkg/github/find_duplicate.go`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from bot.errors import Forbidden, GitHubError, NotFound
from bot.github.api import convert
from bot.github.api.calls import Api
from bot.model import Issue, Likeness, RepoRef

log = logging.getLogger(__name__)

_REFUSALS = (403, 404, 410)


@dataclass(frozen=True, slots=True)
class SimilarIssues:
    """The first page, best first, each with what GitHub says of it. `cached_at` is as in `SearchPage`.

    `enabled` is whether GitHub ranks similar issues in this repository at all.
    """

    items: tuple[tuple[Issue, Likeness], ...] = ()
    enabled: bool = True
    cached_at: str = ""


def similar_issues(api: Api, repo: RepoRef, number: int) -> SimilarIssues:
    """One request, without a threshold: GitHub's own prefers to be right, and nobody knows the scale.

    Where the ranking is not enabled GitHub answers bare issues, or refuses; then it is not asked there for a day.
    """
    feature = f"similar issues in {repo.key}"
    if feature in api.switched_off:
        return SimilarIssues(enabled=False)
    path = f"/repos/{repo.owner}/{repo.name}/issues/{number}/semantically_similar"
    try:
        found: Any = api.call(f"ask for issues like {repo}#{number}", lambda: api.github.request("GET", path))
    except (Forbidden, NotFound) as refusal:
        if refusal.status not in _REFUSALS:
            raise
        return _not_enabled(api, feature, f"GitHub answered {refusal.status}")
    if not isinstance(found, list):
        raise GitHubError(f"ask for issues like {repo}#{number}", 200, "the answer is no list")
    if not all(map(_is_ranked, found)):
        return _not_enabled(api, feature, "GitHub does not rank them")
    return SimilarIssues(tuple((convert.issue(one["issue"]), _likeness(one)) for one in found))


def _not_enabled(api: Api, feature: str, why: str) -> SimilarIssues:
    log.info("%s: %s; it is asked again in a day", feature, why)
    api.switched_off.add(feature)
    return SimilarIssues(enabled=False)


def _is_ranked(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("issue"), dict) and bool(item.get("confidence"))


def _likeness(item: dict[str, Any]) -> Likeness:
    score = item.get("score")
    known = isinstance(score, int | float)
    return Likeness(score if known else None, str(item["confidence"]), item.get("likely_duplicate") is True)
