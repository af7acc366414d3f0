"""The GitHub that a replay asks, which holds what has arrived so far."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from bot.errors import Invalid, NotFound
from bot.model import Actor, Issue, Likeness, RepoRef
from bot.replay.archive import PastIssue

if TYPE_CHECKING:
    from bot.simulator.search import SearchIndex

REPO = RepoRef("replay", "replay")


@dataclass(frozen=True, slots=True)
class FoundPage:
    """An answer of the search, as `RepoClient.search` gives it."""

    total_count: int
    incomplete: bool
    items: tuple[Issue, ...]
    search_type: str
    fallback_reasons: tuple[str, ...]
    cached_at: str = ""


@dataclass(frozen=True, slots=True)
class NoWorkflow:
    """There are no projects in a file of issues."""

    states: dict[int, str | None] = field(default_factory=dict)
    reason: str = "a replay has no projects"


@dataclass(frozen=True, slots=True)
class NoRanking:
    """Nobody ranks a file of issues."""

    items: tuple[tuple[Issue, Likeness], ...] = ()
    enabled: bool = False
    cached_at: str = ""


class ReplayGitHub:
    """What the finder asks of GitHub. Issues are numbered from 1 in order of arrival.

    Without `searchable` there is no search, which costs time and is not needed where an index is asked.
    """

    def __init__(self, *, searchable: bool = True) -> None:
        self._searched = _search_index() if searchable else None
        self._issues: dict[int, Issue] = {}
        self._closing: list[tuple[datetime, int]] = []
        self._closed: list[int] = []

    def arrive(self, past: PastIssue) -> Issue:
        """Open the next issue; whatever was closed by then is closed now. A search finds it from now on."""
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
        """The issues that were closed since this was asked last."""
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

    def search(self, query: str, *, hybrid: bool = False, per_page: int = 100) -> FoundPage:
        """The first page of what a query finds. Raises Invalid where GitHub would refuse the query."""
        from bot.simulator.search import QueryError

        assert self._searched is not None, "it was made without a search"
        try:
            result = self._searched.search(query, per_page=per_page, search_type="hybrid" if hybrid else None)
        except QueryError as refused:
            raise Invalid("search issues", 422, str(refused)) from None
        return FoundPage(
            total_count=result.total_count,
            incomplete=result.incomplete_results,
            items=tuple(self._issues[number] for number in result.ids),
            search_type=result.search_type,
            fallback_reasons=result.fallback_reasons,
        )

    def similar_issues(self, repo: RepoRef, number: int) -> NoRanking:
        return NoRanking()

    def workflow_states(self, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> NoWorkflow:
        return NoWorkflow()

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

        document = Document(
            id=issue.id,
            repo=str(issue.repo),
            number=issue.number,
            title=issue.title,
            body=issue.body,
            created_at=issue.created_at,
            updated_at=issue.updated_at,
            state=issue.state,
            state_reason=issue.state_reason,
            author=issue.author.login,
            labels=issue.labels,
            closed_at=issue.closed_at,
        )
        self._searched.put(document)


def _search_index() -> SearchIndex:
    # With it comes all of the simulator, whose loading takes a third of a replay's start, over an index for nothing.
    from bot.simulator.search import SearchIndex

    index = SearchIndex()
    index.put_repository(str(REPO))
    return index
