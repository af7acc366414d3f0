"""How large a repository is, as probabilities see it: the more issues there are, the more is alike by chance.

So the log-odds that a model gives are put right by the size of the repository. In a small one they are lowered, the
more the fewer issues it has: what belongs together there, a series, a change and its follow-up, stands out as much as
what is the same.
"""

from __future__ import annotations

import math

SMALL = 50
"""A repository of fewer issues is judged as if it had so many: no weights were learned from smaller ones, and it cannot
tell which words are rare."""

SMALL_BELOW = 3_000
"""A repository of fewer issues is small, set by hand."""

CALIBRATION = ("odds", "odds by size", "size")
"""What log-odds are put right by."""

SMALLNESS = "smallness"
"""The same, but learned of small repositories alone, after the others."""


def size(total: int) -> float:
    """The logarithm of how many issues there are."""
    return math.log(max(total, SMALL))


def calibration(odds: float, total: int) -> tuple[float, ...]:
    """The values of CALIBRATION and SMALLNESS, of log-odds and how many issues there are."""
    tenth = size(total) / 10
    return odds, odds * tenth, tenth, smallness(total)


def smallness(total: int) -> float:
    """How small a repository of so many issues is: from 0, where it is not, to 4.1, where there are fifty or fewer."""
    return max(0.0, math.log(SMALL_BELOW) - size(total))
