"""Reads a repository's issues in the order of their last change, and leaves enough of GitHub's rate limit.

Each request asks for issues changed since the last one seen, not for a page number. An issue that changes during the
backfill moves to the end and is read again there. After the end, the same request finds what is new. Only if a whole
page was changed within one second does it follow GitHub's cursor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.domain.entities import Issue, Repository
from bot.domain.errors import Retryable
from bot.github.changes import Budget
from bot.github.repository import RepoClient
from bot.storage.repositories import Progress

# The pages of a hundred that one step reads, the issues that it embeds, and those that the text model reads: a second
# of one core.
PAGES, EMBEDDED, READ_CLOSELY = 5, 200, 50
# Seconds for each request while most of an hour's requests are left, and later. GitHub allows fifteen a second.
QUICKLY, SLOWLY = 0.2, 1.0
# With a smaller share of an hour's requests left it reads slowly, or not at all.
SPARING, RESERVED = 0.5, 0.3
# Seconds before a failed step is tried again if GitHub does not say, and at most.
AGAIN, LATEST = 300.0, 3600.0
# Seconds after which a backfill that nobody continued counts as lost; longer than any wait above.
LOST = 2 * LATEST


def pause(requests: int, budget: Budget | None) -> float:
    """Seconds to wait after a step of so many requests."""
    if budget is None or budget.remaining >= SPARING * budget.limit:
        return requests * QUICKLY
    if budget.remaining >= RESERVED * budget.limit:
        return requests * SLOWLY
    return min(LATEST, budget.seconds + 1.0)


def retry(after: float | None) -> float:
    """Seconds to wait after a failed step; `after` is GitHub's own figure."""
    return min(LATEST, max(AGAIN, after or 0.0))


# GitHub's manual says "after the given time", but GitHub includes that second. This is right either way.
_SAME_SECOND = timedelta(seconds=1)
# GitHub may list a change some seconds late, with an earlier time.
_LATE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class PagePosition:
    """Where to go on: issues changed at `since` (ISO 8601, empty: ever) or later, after the cursor `after`.

    `page` is for servers without cursors, which can skip an issue that changes while they list one crowded second.
    """

    since: str = ""
    after: str = ""
    page: int = 1

    def __str__(self) -> str:
        return f"{self.since} {self.page} {self.after}".rstrip() if self.page > 1 else self.since

    @classmethod
    def parse(cls, text: str) -> PagePosition:
        """Read what `str` wrote."""
        since, _, rest = text.partition(" ")
        page, _, after = rest.partition(" ")
        return cls(since, after, int(page or 1))


def next_position(place: PagePosition, last: datetime | None, after: str) -> PagePosition:
    """The position after a page whose last entry was changed at `last`, None for an empty page.

    GitHub leaves out a spammer's issues, for one.
    """
    since = _text(last - _SAME_SECOND) if last else ""
    return PagePosition(since) if since > place.since else replace(place, after=after, page=place.page + 1)


def last_position(place: PagePosition, last: datetime | None) -> PagePosition:
    """The position for the next round, after the last page."""
    return PagePosition(_text(last - _LATE) if last else place.since)


def _text(moment: datetime) -> str:
    # `strftime` writes years before 1000 with fewer digits.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


@dataclass(slots=True)
class PagesRead:
    """The issues that a step has read, where to go on, and whether it reached the `end`; `failure` stopped it early."""

    place: PagePosition
    issues: list[Issue]
    end: bool = False
    etag: str = ""
    requests: int = 0
    budget: Budget | None = None
    failure: Retryable | None = None


def read_pages(progress: Progress, repository: Repository, github: RepoClient) -> PagesRead:
    """Read some pages from the position of `progress` on; those before a failure are kept."""
    read = PagesRead(PagePosition.parse(progress.cursor), [])
    try:
        while read.requests < PAGES and not read.end:
            etag = progress.etag if not read.requests else ""
            place = read.place
            query = {"since": place.since, "after": place.after, "etag": etag}
            page = github.changed_issues(repository.ref, page=place.page, **query)
            read.requests += 1
            read.issues += page.issues
            read.budget, read.etag, read.end = page.budget, page.etag, not page.more
            if page.more:
                read.place = next_position(place, page.last, page.after)
            elif not page.unchanged:
                read.place = last_position(place, page.last)
    except Retryable as failure:
        read.failure = failure
    return read
