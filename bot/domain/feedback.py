"""People's feedback on the bot's decisions, and the threshold learned from it, as values. Pure.

`bot.quality.feedback` makes labelled pairs from the feedback; `bot.quality.calibration` learns the threshold from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FeedbackKind(StrEnum):
    """The way in which a person gave feedback.

    `REACTION`: 👍 or 👎 on the comment. `BOX`: a ticked box in the digest. `VOTE`: a button on the dashboard. `CLOSED`:
    the issue was closed as a duplicate. `SUGGESTION`: a maintainer approved or dismissed the bot's suggestion on
    GitHub. `NOT` and `OF`: the commands `not` and `of`.
    """

    REACTION = "reaction"
    BOX = "box"
    VOTE = "vote"
    CLOSED = "closed"
    SUGGESTION = "suggestion"
    NOT = "not"
    OF = "of"


class Role(StrEnum):
    """A person's role: triage access or more, the issue's author, or anybody else."""

    TRIAGE = "triage"
    AUTHOR = "author"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FeedbackSignal:
    """Feedback about issue `number` that a person gave other than by a command. `at` is in seconds since 1970.

    `other` is the candidate meant, or 0 for all candidates shown. `same` says whether the person thinks that both
    issues report the same thing.
    """

    number: int
    kind: FeedbackKind
    login: str
    other: int
    same: bool
    who: Role
    at: float


class UserVerdictKind(StrEnum):
    """`NOT`: neither issue of the pair repeats the other. `OF` closes the first as a duplicate of the second."""

    NOT = "not"
    OF = "of"


@dataclass(frozen=True, slots=True)
class UserVerdict:
    """A person's verdict on the pair of issues `number` and `other`, by the command in comment `command_id`.

    If the other issue is in another repository, `other` is 0, and `issue` is its `owner/repo#number` in lower case.
    `undone_by` is the comment whose `undo` took the verdict back. Times are in seconds since 1970. `details` holds JSON
    values that `undo` needs, such as the added label.
    """

    id: int
    repo_id: int
    number: int
    other: int
    kind: UserVerdictKind
    actor: str
    at: float
    command_id: int
    undone_at: float | None = None
    undone_by: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    issue: str = ""


class Fold(StrEnum):
    """Whether the bot has folded (minimised) its comment. `LEFT`: the bot never folds or unfolds it again."""

    OPEN = ""
    FOLDED = "folded"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class StoredCalibration:
    """The `threshold` learned from the feedback since the last reset (`since`); None if the default stays in force.

    `changed_at` is when the threshold last moved. Times are in seconds since 1970.
    `right` and `wrong` are the weights of right and wrong comments, as in `CalibrationResult`.
    """

    threshold: float | None
    since: float
    changed_at: float
    right: float = 0.0
    wrong: float = 0.0
