"""A repository's first issues: they came when it was small itself, and show what holds in small repositories."""

from __future__ import annotations

from collections.abc import Sequence

from bot.evaluation.labels import WARM, Labels, truth
from bot.replay.archive import PastIssue

#: Issues of a repository's beginning, of which all are looked at: those after so many, up to so many.
BEGINNING = (30, 4_000)


def beginning(issues: Sequence[PastIssue], labels: Labels) -> dict[int, float]:
    """Positions of the first issues, as far as it is known what they repeat → 1: each stands for itself."""
    least, most = BEGINNING
    last = min(most, grown_from(issues))
    return {position: 1.0 for position, _ in truth(issues[:last], labels, 0.0) if position >= least}


def grown_from(issues: Sequence[PastIssue]) -> int:
    """From which position on a repository is no more at its beginning."""
    return int(len(issues) * WARM)
