"""One arrival that weights are learned from, with the candidates that were compared with it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.index.postings.packing import Floats, Integers
from bot.training.readings import Read


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates: (candidates, features), which of the issues before it each is, counted back from
    0, and whether each is the `same`.

    `earlier` is how many issues there were before it, `stands_for` how many issues of its kind it is a sample of.
    `young` is one of a repository's first, which came when it was small itself. `read` is what careful readers said of
    its candidates; what was chosen for that alone stands for no issue.
    """

    earlier: int
    values: Floats
    back: Integers
    same: Floats
    stands_for: float
    young: bool = False
    read: Read | None = None
