"""GitHub's issue search: lexical, or hybrid (lexical and by meaning). https://docs.github.com/rest/search/search"""

from __future__ import annotations

from dataclasses import dataclass, replace

from githubkit.utils import UNSET

from bot.github.api import convert
from bot.github.api.calls import PAGE, Api
from bot.model import Issue

LONGEST_BODY = 10_000
"""Characters of a result's body that are kept: a page of a hundred may bring 6 MB, and pages are remembered."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The first page of a search.

    `total_count` counts all hits, `incomplete` says that GitHub ran out of time, `search_type` how it searched in the
    end, `fallback_reasons` why a hybrid search became a lexical one. `cached_at` is the time of day at which the page
    was fetched if it is a remembered one, else empty. Bodies are cut to LONGEST_BODY characters.
    """

    total_count: int
    incomplete: bool
    items: tuple[Issue, ...]
    search_type: str
    fallback_reasons: tuple[str, ...]
    cached_at: str = ""


def search(api: Api, query: str, *, hybrid: bool = False, per_page: int = PAGE) -> SearchPage:
    """One search request: lexical (30 a minute) or hybrid (10 a minute).

    Raises Invalid with GitHub's explanation for a query that it refuses, such as one for a repository by a name that it
    no longer has: searches do not follow renames.
    """
    data = api.call(
        "search issues",
        lambda: api.rest.search.issues_and_pull_requests(
            q=query, per_page=per_page, search_type="hybrid" if hybrid else UNSET
        ),
    )
    return SearchPage(
        total_count=data["total_count"],
        incomplete=data["incomplete_results"],
        items=tuple(_shortened(convert.issue(item)) for item in data["items"]),
        # Servers that know no other search do not name it.
        search_type=data.get("search_type") or "lexical",
        fallback_reasons=tuple(data.get("lexical_fallback_reason") or ()),
    )


def _shortened(issue: Issue) -> Issue:
    return replace(issue, body=issue.body[:LONGEST_BODY]) if len(issue.body) > LONGEST_BODY else issue
