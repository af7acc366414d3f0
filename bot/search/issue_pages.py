"""Reads a repository's issues for the indexer, in the order of their last change, within GitHub's rate limit.

Each request asks for the issues that changed at or after a start time. The start time is one second before the latest
change so far or, after the last page, one minute before the latest change. So the next round finds new changes, and an
issue that changes during the backfill moves to the end and is read again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.entities import Issue, Repository
from bot.domain.errors import Retryable
from bot.github.changes import Budget
from bot.github.convert import as_text
from bot.github.repository import RepoClient
from bot.storage.repositories import Progress

# A step reads up to PAGES pages of a hundred issues. After the last page, a step makes vectors of up to EMBEDDED issues
# with the embedding model, or of up to READ_CLOSELY issues with the text model, which takes a second of one core.
PAGES, EMBEDDED, READ_CLOSELY = 5, 200, 50
# Seconds to wait after a step, for each of its requests: at first, and once requests become scarce. GitHub allows
# fifteen requests a second.
QUICKLY, SLOWLY = 0.2, 1.0
# Shares of an hour's requests. The bot reads slowly with less than SPARING left, and pauses with less than RESERVED.
SPARING, RESERVED = 0.5, 0.3
# Waits in seconds: AGAIN is the shortest wait after a failed step, LATEST is the longest wait of all.
AGAIN, LATEST = 300.0, 3600.0
# A backfill without a step for this many seconds counts as lost. That is longer than any wait above.
LOST = 2 * LATEST


def pause(requests: int, budget: Budget | None) -> float:
    """Seconds to wait after a step with this many requests."""
    if budget is None or budget.remaining >= SPARING * budget.limit:
        return requests * QUICKLY
    if budget.remaining >= RESERVED * budget.limit:
        return requests * SLOWLY
    return min(LATEST, budget.seconds + 1.0)


def retry(after: float | None) -> float:
    """Seconds to wait after a failed step; `after` is the number of seconds that GitHub asks for."""
    return min(LATEST, max(AGAIN, after or 0.0))


# GitHub's manual says that `since` means "after the given time", but GitHub includes that second. Going back one second
# is right either way.
_SAME_SECOND = timedelta(seconds=1)
# GitHub may list a change some seconds late, with an earlier time.
_LATE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class PagePosition:
    """Where to read on: after the cursor `after`, among the issues changed at `since` or later (ISO 8601; empty: all).

    Servers without cursors get the number `page`; there, a change between two requests can make the bot skip an issue.
    """

    since: str = ""
    after: str = ""
    page: int = 1

    def __str__(self) -> str:
        return self.since if self.page <= 1 else f"{self.since} {self.page} {self.after}".rstrip()

    @classmethod
    def parse(cls, text: str) -> PagePosition:
        """Read a position from the text that `str` gives."""
        since, _, rest = text.partition(" ")
        page, _, after = rest.partition(" ")
        return cls(since, after, int(page or 1))


def next_position(position: PagePosition, last: datetime | None, after: str) -> PagePosition:
    """The position after a page whose last issue was changed at `last` (None: the page is empty).

    A page can be empty before the end, for example because GitHub leaves out a spammer's issues.
    """
    since = as_text(last - _SAME_SECOND) if last else ""
    # If the time does not move on, the whole page changed within one second (or is empty): follow the cursor.
    return PagePosition(since) if since > position.since else replace(position, after=after, page=position.page + 1)


def last_position(position: PagePosition, last: datetime | None) -> PagePosition:
    """The position for the next round, after the last page."""
    return PagePosition(as_text(last - _LATE) if last else position.since)


@dataclass(slots=True)
class PagesRead:
    """The issues that a step has read, the position from which to read on, and whether the step reached the `end`.

    If a `failure` ended the step early, the issues read before it are kept. `etag` and `budget` are the last answer's.
    """

    position: PagePosition
    issues: list[Issue]
    end: bool = False
    etag: str = ""
    requests: int = 0
    budget: Budget | None = None
    failure: Retryable | None = None


def read_pages(progress: Progress, repository: Repository, github: RepoClient) -> PagesRead:
    """Read up to PAGES pages from the position of `progress` on."""
    result = PagesRead(PagePosition.parse(progress.cursor), [])
    try:
        while result.requests < PAGES and not result.end:
            # The stored ETag belongs to the first request of this step.
            etag = progress.etag if not result.requests else ""
            position = result.position
            page = github.changed_issues(
                repository.ref, since=position.since, after=position.after, page=position.page, etag=etag
            )
            result.requests += 1
            result.issues += page.issues
            result.budget, result.etag, result.end = page.budget, page.etag, not page.more
            if page.more:
                result.position = next_position(position, page.last, page.after)
            elif not page.unchanged:
                result.position = last_position(position, page.last)
    except Retryable as failure:
        result.failure = failure
    return result
