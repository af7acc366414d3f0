"""Which bar is in force in a repository, and who put it there. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.config.model import MIN_CONFIDENCE, RepoConfig
from bot.judgements import KeptCalibration


class Origin(StrEnum):
    """`SETTINGS`: the repository's file names it. `FEEDBACK`: what people said moved it. `USUAL`: neither."""

    SETTINGS = "settings"
    FEEDBACK = "feedback"
    USUAL = "usual"


@dataclass(frozen=True, slots=True)
class Bar:
    """The probability from which on candidates are shown; `right` and `wrong` are what moved it, as weights."""

    value: float
    origin: Origin
    right: float = 0.0
    wrong: float = 0.0


def bar_in_force(config: RepoConfig, kept: KeptCalibration | None) -> Bar:
    """What the settings name wins, and with `calibrate: off` feedback moves nothing."""
    if config.min_confidence is not None:
        return Bar(config.min_confidence, Origin.SETTINGS)
    if config.calibrate and kept is not None and kept.bar is not None:
        return Bar(kept.bar, Origin.FEEDBACK, kept.right, kept.wrong)
    return Bar(MIN_CONFIDENCE, Origin.USUAL)
