"""Through a repository's issues in the order of their last change, and how fast.

Asking each time for what was changed since the last one seen, rather than for a page by its number, has two merits.
What is changed during the walk moves to the end and is seen again there, so that nothing is missed whatever happens
meanwhile; and having come to the end, the same question finds what is new. Only where a whole page was changed within
the same second does the walk follow GitHub's cursor. There is always enough left of GitHub's limit for answering.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.errors import Retryable
from bot.github.repository.changes import Budget
from bot.github.repository.repo import RepoClient
from bot.model import Issue, Repository
from bot.store.parts.repositories import Progress

#: Pages of a hundred that are read in one step of the background queue.
PAGES = 5
#: Issues that are embedded in one step.
EMBEDDED = 200
#: Issues that the text model reads in one step: a second or so of one core.
READ_CLOSELY = 50
#: Seconds for each request on average while most of an hour's requests are left, and from then on. GitHub asks for one
#: request after the other, and allows fifteen a second.
QUICKLY, SLOWLY = 0.2, 1.0
#: Of an hour's requests (5,000 and more) so many are read slowly, and so many are never used for reading ahead.
SPARING, RESERVED = 0.5, 0.3
#: Seconds after which a step that failed is tried again where GitHub does not say, and at most.
AGAIN, LATEST = 300.0, 3600.0
#: Seconds after which a reading that nobody has continued is taken for lost: more than any wait of the above.
LOST = 2 * LATEST


def pause(requests: int, budget: Budget | None) -> float:
    """Seconds to wait after a step with so many requests."""
    if budget is None or budget.remaining >= SPARING * budget.limit:
        return requests * QUICKLY
    if budget.remaining >= RESERVED * budget.limit:
        return requests * SLOWLY
    return min(LATEST, budget.seconds + 1.0)


def retry(after: float | None) -> float:
    """Seconds to wait after a step that failed; `after` is what GitHub said."""
    return min(LATEST, max(AGAIN, after or 0.0))


# GitHub's manual says "after the given time", GitHub itself gives those of that second, too. This is right either way.
_SAME_SECOND = timedelta(seconds=1)
# What is committed on GitHub's side can be listed some seconds later, with an earlier time.
_LATE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go on: what was changed at `since` (ISO 8601, empty: ever) or later, there behind the cursor `after`.

    `page` counts for servers without cursors, which can pass one over that is changed while they list a second of many.
    """

    since: str = ""
    after: str = ""
    page: int = 1

    def __str__(self) -> str:
        return f"{self.since} {self.page} {self.after}".rstrip() if self.page > 1 else self.since

    @classmethod
    def parse(cls, text: str) -> Place:
        """Read what `str` wrote."""
        since, _, rest = text.partition(" ")
        page, _, after = rest.partition(" ")
        return cls(since, after, int(page or 1))


def further(place: Place, last: datetime | None, after: str) -> Place:
    """The next place after a page that others follow, whose last entry was changed at `last`; None for an empty one,
    from which GitHub has taken what is not to be seen, such as all that a spammer's account has written.
    """
    since = _text(last - _SAME_SECOND) if last else ""
    return Place(since) if since > place.since else replace(place, after=after, page=place.page + 1)


def resting(place: Place, last: datetime | None) -> Place:
    """The place to look at again later, after the last page; `last` is None for an empty one."""
    return Place(_text(last - _LATE) if last else place.since)


def _text(moment: datetime) -> str:
    # Not `strftime`, which writes the years before 1000 with fewer digits.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


@dataclass(slots=True)
class Pages:
    """What a step has read: issues, the place to go on, and whether that is the end. `failure` is what stopped it."""

    place: Place
    issues: list[Issue]
    end: bool = False
    etag: str = ""
    requests: int = 0
    budget: Budget | None = None
    failure: Retryable | None = None


def read_pages(progress: Progress, repository: Repository, github: RepoClient) -> Pages:
    """Some pages from the place on that `progress` has come to. A failure keeps what was read before it."""
    read = Pages(Place.parse(progress.cursor), [])
    try:
        while read.requests < PAGES and not read.end:
            etag = progress.etag if not read.requests else ""
            place = read.place
            page = github.changed_issues(
                repository.ref, since=place.since, after=place.after, page=place.page, etag=etag
            )
            read.requests += 1
            read.budget = page.budget
            read.issues += page.issues
            read.end = not page.more
            read.etag = page.etag
            if page.more:
                read.place = further(place, page.last, page.after)
            elif not page.unchanged:
                read.place = resting(place, page.last)
    except Retryable as failure:
        read.failure = failure
    return read
