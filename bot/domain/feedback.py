"""What people said of the bot's decisions, and the threshold that follows, as values. Pure.

`bot.quality.feedback` and `bot.quality.calibration` draw the conclusions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FeedbackKind(StrEnum):
    """How somebody said it.

    `REACTION`: 👍 or 👎 on the comment. `BOX`: a box ticked in the digest. `VOTE`: a button of the dashboard. `CLOSED`:
    the issue was closed as a duplicate. `RETITLED`: a new title removed a candidate from the comment. `SUGGESTION`: the
    bot's suggestion was approved or dismissed on GitHub. `NOT` and `OF` are the commands.
    """

    REACTION = "reaction"
    BOX = "box"
    VOTE = "vote"
    CLOSED = "closed"
    RETITLED = "retitled"
    SUGGESTION = "suggestion"
    NOT = "not"
    OF = "of"


class Role(StrEnum):
    """Somebody's role: triage access or more, the issue's author, or anybody else."""

    TRIAGE = "triage"
    AUTHOR = "author"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FeedbackSignal:
    """What somebody said of issue `number` other than by a command, at a time in seconds since 1970.

    `other` is the issue that it is compared with, 0 for all that were shown; `same` whether they report the same thing.
    """

    number: int
    kind: FeedbackKind
    login: str
    other: int
    same: bool
    who: Role
    at: float


class UserVerdictKind(StrEnum):
    """`NOT` rejects a pair for good, in both directions; `OF` closed `number` as a duplicate of `other`."""

    NOT = "not"
    OF = "of"


@dataclass(frozen=True, slots=True)
class UserVerdict:
    """A decision on issue `number` about issue `other`, by the command in comment `command_id`.

    `details` is what `undo` needs, such as the label that was added; JSON values only.
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
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A `not` about an issue of another repository, `owner/repo#number` in lower case.

    `undone_by` is the comment with the `undo` that took it back.
    """

    number: int
    issue: str
    actor: str
    at: float
    command_id: int
    undone_by: int | None = None


class Fold(StrEnum):
    """`OPEN`: the bot has not folded the comment. `FOLDED`: it has. `LEFT`: it has once, and never will again."""

    OPEN = ""
    FOLDED = "folded"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class KeptCalibration:
    """The threshold that follows from what was said after `since` (None: nothing follows), and when it last moved.

    `right` and `wrong` are the sums of the weights for and against.
    """

    threshold: float | None
    since: float
    changed_at: float
    right: float = 0.0
    wrong: float = 0.0
