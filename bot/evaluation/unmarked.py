"""The likeliest of those that nobody marked: where the bot is surest, and no label says that it is right. Pure.

Some of them are duplicates all the same, as a person sees who reads both. So they are shown, and not only counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bot.evaluation.metrics import Id, Judged, split

SHOWN = 10
LEAST = 0.1
"""What is less likely than this it is not sure of at all, and no threshold that anybody would set shows it."""


@dataclass(frozen=True, slots=True)
class Unmarked:
    """An issue that repeats nothing as far as labels say, and what was found first for it."""

    id: Id
    candidate: Id
    confidence: float


def likeliest(judged: Iterable[Judged], rejected: Collection[tuple[int, int]] = ()) -> tuple[Unmarked, ...]:
    """Up to `SHOWN` of at least `LEAST`, likeliest first, of equals the later, which somebody may still remember.

    Without pairs that people have rejected, since these need not be read again.
    """
    silent = [one for one in split(judged)[1] if one.top >= LEAST]
    silent.sort(key=lambda one: (one.top, one.arrived), reverse=True)
    return without((Unmarked(one.id, one.found[0][0], one.top) for one in silent), rejected)[:SHOWN]


def without(unmarked: Iterable[Unmarked], rejected: Collection[tuple[int, int]]) -> tuple[Unmarked, ...]:
    """`unmarked` without pairs that people have rejected, in whichever order these name the two."""
    return tuple(
        one for one in unmarked if (one.id, one.candidate) not in rejected and (one.candidate, one.id) not in rejected
    )
