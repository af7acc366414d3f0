"""How fast a repository's issues are read, so that there is always enough left for answering. Pure."""

from __future__ import annotations

from typing import Protocol

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


class Budget(Protocol):
    """What GitHub says of the hour's requests: `remaining` of `limit`, for so many `seconds` more."""

    @property
    def remaining(self) -> int: ...
    @property
    def limit(self) -> int: ...
    @property
    def seconds(self) -> float: ...


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
