"""How fast a repository's issues are read, so that there is always enough left for answering. Pure."""

from __future__ import annotations

from bot.github.changes import Budget

#: Pages of a hundred that are read in one step of the background queue.
PAGES = 5
#: Issues that are embedded in one step.
EMBEDDED = 200
#: Seconds for each request on average: 3,600 an hour of the 5,000 that every installation has.
PER_REQUEST = 1.0
#: Of an hour's requests so many are never used for reading ahead.
RESERVED = 0.3
#: Seconds after which a step that failed is tried again where GitHub does not say, and at most.
AGAIN, LATEST = 300.0, 3600.0
#: Seconds after which a reading that nobody has continued is taken for lost: more than any wait of the above.
LOST = 2 * LATEST


def pause(requests: int, budget: Budget | None) -> float:
    """Seconds to wait after a step with so many requests."""
    if budget is not None and budget.remaining < RESERVED * budget.limit:
        return min(LATEST, budget.seconds + 1.0)
    return requests * PER_REQUEST


def retry(after: float | None) -> float:
    """Seconds to wait after a step that failed; `after` is what GitHub said."""
    return min(LATEST, max(AGAIN, after or 0.0))
