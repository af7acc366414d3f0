"""What becomes of a job that raised: pure decisions, with the chance passed in.

GitHub's manual asks to wait what `retry-after` says, and to back off exponentially where nothing is said ("Best
practices for using the REST API"). The waits grow from ten seconds to six hours and add up to most of a day, so that
an outage of a night loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.errors import Retryable, UserError
from bot.store.database.failures import passes

DIED = "its worker died each time it was tried"
"""What is said of a job that ended its workers."""

# Ten waits: 10 s, 30 s, 90 s, … 6 h, 21 hours together.
MOST_TRIES = 11
# A fault of ours seldom mends itself; a second and third try rules out bad luck.
MOST_TRIES_OF_A_FAULT = 3

_FIRST_WAIT = 10.0
_GROWTH = 3.0
_LONGEST_WAIT = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Again:
    """Try again in `wait` seconds."""

    wait: float


@dataclass(frozen=True, slots=True)
class Dead:
    """No more tries: keep it in the dead-letter list until a person looks."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing failed: somebody asked for what cannot be, and only they can mend it."""


def decide(error: Exception, failures: int, chance: float) -> Again | Dead | Refused:
    """What to do after the failure number `failures` (from 1). `chance` in [0, 1) spreads the waits of many jobs."""
    if isinstance(error, UserError):
        return Refused()
    limit = MOST_TRIES if isinstance(error, Retryable) or passes(error) else MOST_TRIES_OF_A_FAULT
    if failures >= limit:
        return Dead()
    wait = min(_LONGEST_WAIT, _FIRST_WAIT * _GROWTH ** (failures - 1))
    if isinstance(error, Retryable) and error.after is not None:
        wait = max(wait, error.after)
    # Only ever longer: what GitHub said is a minimum.
    return Again(wait * (1 + 0.1 * chance))
