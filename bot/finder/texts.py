"""The texts of what was found, for whoever judges by them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from bot.errors import GitHubError, Retryable
from bot.finder.asking import GitHubReads
from bot.index import Index
from bot.model import Issue, IssueRef, RepoRef
from bot.report import Candidate
from bot.text.own import own_text


def own_texts(
    target: Issue,
    candidates: Sequence[Candidate],
    read: Iterable[Issue],
    github: GitHubReads,
    index: Index | None,
    repo_id: int,
) -> list[str]:
    """What the author of each candidate wrote, on one line and without what forms supply; empty if it cannot be had.

    From the `index`, else from what was `read` already, else from GitHub: a group may be led by what no source found.
    """
    stored = _stored(index, repo_id, [one.number for one in candidates if one.own])
    bodies = {issue.key: issue.body for issue in read}

    def text(candidate: Candidate) -> str:
        ref = IssueRef(RepoRef.parse(candidate.repo) if candidate.repo else target.repo, candidate.number)
        if candidate.own and candidate.number in stored:
            return stored[candidate.number]
        if ref.key not in bodies and candidate.own:
            with suppress(GitHubError, Retryable):
                return own_text(github.issue(ref.repo, ref.number).body)
        return own_text(bodies.get(ref.key, ""))

    return [text(one) for one in candidates]


def _stored(index: Index | None, repo_id: int, numbers: Collection[int]) -> Mapping[int, str]:
    """The texts of those that the index holds, which knows what lines recur in the repository's issues."""
    if index is None or not numbers:
        return {}
    with index.view(repo_id) as view:
        texts = view.texts(numbers)
    supplied = index.analyser.supplied
    return {
        number: own_text(body, index.analyse(repo_id, title, body, number).terms.get(supplied, {}))
        for number, (title, body) in texts.items()
    }
