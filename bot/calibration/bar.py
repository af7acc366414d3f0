"""The threshold that is in force in a repository, and where it comes from. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.config.model import MIN_CONFIDENCE, RepoConfig
from bot.judgements import KeptCalibration


class Origin(StrEnum):
    """`SETTINGS`: the repository's file sets it. `FEEDBACK`: feedback has moved it. `USUAL`: neither."""

    SETTINGS = "settings"
    FEEDBACK = "feedback"
    USUAL = "usual"


@dataclass(frozen=True, slots=True)
class Bar:
    """The threshold from which on candidates are shown, and the weights of the feedback that moved it."""

    value: float
    origin: Origin
    right: float = 0.0
    wrong: float = 0.0


def bar_in_force(config: RepoConfig, kept: KeptCalibration | None) -> Bar:
    """The repository's file wins; with `calibrate: off` feedback moves nothing."""
    if config.min_confidence is not None:
        return Bar(config.min_confidence, Origin.SETTINGS)
    if config.calibrate and kept is not None and kept.bar is not None:
        return Bar(kept.bar, Origin.FEEDBACK, kept.right, kept.wrong)
    return Bar(MIN_CONFIDENCE, Origin.USUAL)
