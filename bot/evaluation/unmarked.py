"""The likeliest of those that nobody marked: where the bot is surest, and no label says that it is right. Pure.

Some of them are duplicates all the same, as a person sees who reads both. So they are shown, and not only counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bot.evaluation.metrics import Id, Judged, split
from bot.likelihood import POSSIBLY

SHOWN = 10
LEAST = POSSIBLY
"""What is less likely than this is not even possibly the same, and no threshold that anybody would set shows it."""


@dataclass(frozen=True, slots=True)
class Unmarked:
    """An issue that repeats nothing as far as labels say, and what was found first for it."""

    id: Id
    candidate: Id
    confidence: float


def likeliest(judged: Iterable[Judged]) -> tuple[Unmarked, ...]:
    """Up to `SHOWN` of at least `LEAST`, likeliest first, of equals the later, which somebody may still remember.

    Without pairs that people have decided about, since these need not be read again.
    """
    silent = [one for one in split(judged)[1] if one.top >= LEAST and one.found[0][0] not in one.different]
    silent.sort(key=lambda one: (one.top, one.arrived), reverse=True)
    return tuple(Unmarked(one.id, one.found[0][0], one.top) for one in silent[:SHOWN])


def without(unmarked: Iterable[Unmarked], pairs: Collection[tuple[int, int]]) -> tuple[Unmarked, ...]:
    """`unmarked` without these pairs, in whichever order they name the two."""
    return tuple(one for one in unmarked if not {(one.id, one.candidate), (one.candidate, one.id)} & set(pairs))
