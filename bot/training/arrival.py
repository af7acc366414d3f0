"""One arrival that weights are learned from, with the candidates that were compared with it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.index.postings.packing import Floats, Integers


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates: (candidates, features), which of the issues before it each is, counted back from
    0, and whether each is the `same`.

    `earlier` is how many issues there were before it, `stands_for` how many issues of its kind it is a sample of.
    `young` is one of a repository's first, which came when it was small itself.
    """

    earlier: int
    values: Floats
    back: Integers
    same: Floats
    stands_for: float
    young: bool = False
