"""Through a repository's issues in the order of their last change. Pure.

Asking each time for what was changed since the last one seen, rather than for a page by its number, has two merits.
What is changed during the walk moves to the end and is seen again there, so that nothing is missed whatever happens
meanwhile; and having come to the end, the same question finds what is new. Only where a whole page was changed within
the same second does the walk follow GitHub's cursor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

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
