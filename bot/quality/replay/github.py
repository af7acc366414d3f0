"""A GitHub for replays, which holds the issues that have arrived so far."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from bot.domain.entities import Actor, Issue, RepoRef
from bot.domain.errors import Invalid, NotFound
from bot.github.batched_reads import WorkflowStates
from bot.github.search import SearchPage, SimilarIssues
from bot.quality.replay.archive import PastIssue

if TYPE_CHECKING:
    from bot.simulator.search import SearchIndex

REPO = RepoRef("replay", "replay")

# Fields that an issue and a document of the simulated search share.
_SAME = ("id", "number", "title", "body", "created_at", "updated_at", "state", "state_reason", "labels", "closed_at")


class ReplayGitHub:
    """What the finder reads from GitHub. Issues are numbered from 1 in order of arrival.

    With `searchable=False` there is no search, which takes time and is not needed over an index.
    """

    def __init__(self, *, searchable: bool = True) -> None:
        self._searched = _search_index() if searchable else None
        self._issues: dict[int, Issue] = {}
        self._closing: list[tuple[datetime, int]] = []
        self._closed: list[int] = []

    def arrive(self, past: PastIssue) -> Issue:
        """Open the next issue, and close those that were closed by then. Searches find it from now on."""
        while self._closing and self._closing[0][0] <= past.created_at:
            moment, number = heapq.heappop(self._closing)
            self._close(number, moment)
        number = len(self._issues) + 1
        issue = Issue(
            repo=REPO,
            id=number,
            node_id=f"I_{number}",
            number=number,
            title=past.title,
            body=past.body,
            state="open",
            state_reason=None,
            author=Actor(past.author),
            labels=past.labels,
            created_at=past.created_at,
            updated_at=past.created_at,
            closed_at=None,
            url=f"https://github.com/{REPO}/issues/{number}",
        )
        self._issues[number] = issue
        self._put(issue)
        if past.closed_at is not None:
            heapq.heappush(self._closing, (max(past.closed_at, past.created_at), number))
        return issue

    def take_closed(self) -> list[Issue]:
        """The issues that were closed since the last call."""
        closed = [self._issues[number] for number in self._closed]
        self._closed = []
        return closed

    def issue(self, repo: RepoRef, number: int) -> Issue:
        if number not in self._issues:
            raise NotFound(f"read {repo}#{number}", 404, "it has not arrived yet")
        return self._issues[number]

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        newest = len(self._issues)
        return [self._issues[number] for number in range(newest, max(newest - limit, 0), -1)]

    def search(self, query: str, *, hybrid: bool = False, per_page: int = 100) -> SearchPage:
        """The first page of a search. Raises Invalid if GitHub would refuse the query."""
        from bot.simulator.search import QueryError

        assert self._searched is not None, "it was made without a search"
        try:
            result = self._searched.search(query, per_page=per_page, search_type="hybrid" if hybrid else None)
        except QueryError as refused:
            raise Invalid("search issues", 422, str(refused)) from None
        return SearchPage(
            total_count=result.total_count,
            incomplete=result.incomplete_results,
            items=tuple(self._issues[number] for number in result.ids),
            search_type=result.search_type,
            fallback_reasons=result.fallback_reasons,
        )

    def similar_issues(self, repo: RepoRef, number: int) -> SimilarIssues:
        return SimilarIssues(enabled=False)

    def workflow_states(self, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowStates:
        return WorkflowStates({}, "a replay has no projects")

    def _close(self, number: int, moment: datetime) -> None:
        closed = replace(
            self._issues[number], state="closed", state_reason="completed", closed_at=moment, updated_at=moment
        )
        self._issues[number] = closed
        self._closed.append(number)
        self._put(closed)

    def _put(self, issue: Issue) -> None:
        if self._searched is None:
            return
        from bot.simulator.search import Document

        same = {name: getattr(issue, name) for name in _SAME}
        self._searched.put(Document(repo=str(issue.repo), author=issue.author.login, **same))


def _search_index() -> SearchIndex:
    # Imported late: loading the simulator takes a third of a replay's start, and a replay over an index needs none.
    from bot.simulator.search import SearchIndex

    index = SearchIndex()
    index.put_repository(str(REPO))
    return index
