"""Calibrates probabilities by the repository's size: the more issues there are, the more are alike by chance.

In a small repository the log-odds are lowered, the more the fewer issues it has: a series, or a change and its
follow-up, stands out there as much as two reports of one thing.
"""

from __future__ import annotations

import math

SMALL = 50
"""A smaller repository is judged as if it had this many issues: no weights were learned from smaller ones, and too few
issues cannot tell which words are rare."""

SMALL_BELOW = 3_000
"""A repository of fewer issues counts as small; set by hand."""

CALIBRATION = ("odds", "odds by size", "size")
"""The features of the calibration."""

SMALLNESS = "smallness"
"""One more feature, whose weight is learned from small repositories alone, after the others."""


def log_size(total: int) -> float:
    """The logarithm of how many issues there are."""
    return math.log(max(total, SMALL))


def calibration(odds: float, total: int) -> tuple[float, ...]:
    """The values of CALIBRATION and SMALLNESS for log-odds in a repository of `total` issues."""
    tenth = log_size(total) / 10
    return odds, odds * tenth, tenth, log_smallness(total)


def log_smallness(total: int) -> float:
    """How small a repository of `total` issues is: from 0 for a large one to 4.1 for fifty issues or fewer."""
    return max(0.0, math.log(SMALL_BELOW) - log_size(total))
