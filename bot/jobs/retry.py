"""When a job that raised is tried again: a pure decision, with the chance passed in.

GitHub's manual asks clients to wait as long as `retry-after` says, and otherwise to back off exponentially ("Best
practices for using the REST API"). The waits add up to most of a day, so a night's outage loses nothing.
"""

from __future__ import annotations

from bot.errors import Retryable
from bot.store.database.failures import passes

DIED = "its worker died each time it was tried"
"""The last error of a job that killed its workers."""

# Ten waits: 10 s, 30 s, 90 s, … 6 h, 21 hours together.
MOST_TRIES = 11
# A fault of ours seldom mends itself; a second and third try rule out bad luck.
MOST_TRIES_OF_A_FAULT = 3

_FIRST_WAIT, _GROWTH, _LONGEST_WAIT = 10.0, 3.0, 6 * 3600.0


def decide(error: Exception, failures: int, chance: float) -> float | None:
    """Seconds until the next try after failure number `failures` (from 1); None makes the job a dead letter.

    `chance` in [0, 1) spreads the waits of many jobs.
    """
    if failures >= (MOST_TRIES if isinstance(error, Retryable) or passes(error) else MOST_TRIES_OF_A_FAULT):
        return None
    wait = min(_LONGEST_WAIT, _FIRST_WAIT * _GROWTH ** (failures - 1))
    if isinstance(error, Retryable) and error.after is not None:
        wait = max(wait, error.after)
    # Only ever longer: GitHub's figure is a minimum.
    return wait * (1 + 0.1 * chance)
