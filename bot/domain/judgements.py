"""What people judged, and what became of that, as values. Pure.

How they are kept is the store's affair; what follows from them is said by `bot.quality.feedback` and
`bot.quality.calibration`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """How somebody said it.

    `REACTION`: 👍 or 👎 on the comment. `BOX`: a box ticked in the digest. `VOTE`: a button of the dashboard. `CLOSED`:
    the issue was closed, as a duplicate or otherwise. `RETITLED`: a new title after which a candidate is shown no more.
    `SUGGESTION`: the bot's suggestion was approved or dismissed on GitHub. `NOT` and `OF` are the commands.
    """

    REACTION = "reaction"
    BOX = "box"
    VOTE = "vote"
    CLOSED = "closed"
    RETITLED = "retitled"
    SUGGESTION = "suggestion"
    NOT = "not"
    OF = "of"


class Who(StrEnum):
    """What they may do in the repository: triage and up, its issue's author, or anybody else."""

    TRIAGE = "triage"
    AUTHOR = "author"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Signal:
    """What somebody said of issue `number` other than by a command, at a time in seconds since 1970.

    `other` is the issue that it is compared with, 0 where it is about everything that was shown. `same` is whether they
    report the same thing.
    """

    number: int
    kind: Kind
    login: str
    other: int
    same: bool
    who: Who
    at: float


class VerdictKind(StrEnum):
    """`NOT` rejects a pair for good, in both directions; `OF` closed `number` as a duplicate of `other`."""

    NOT = "not"
    OF = "of"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision, taken on issue `number` about issue `other` by the command in comment `command_id`.

    `details` is what undoing it must know, such as the labels that were added; JSON values only.
    """

    id: int
    repo_id: int
    number: int
    other: int
    kind: VerdictKind
    actor: str
    at: float
    command_id: int
    undone_at: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejection:
    """That issue `number` is not `issue` (`owner/repo#number` in lower case), said by the command in a comment.

    `undone_by` is the comment with the `undo` that took it back.
    """

    number: int
    issue: str
    actor: str
    at: float
    command_id: int
    undone_by: int | None = None


class Fold(StrEnum):
    """`OPEN`: the bot has not folded it. `FOLDED`: it has. `LEFT`: it has, and never will again."""

    OPEN = ""
    FOLDED = "folded"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class KeptCalibration:
    """The threshold that follows from what was said after `since` (None: nothing follows), and when it last moved.

    `right` and `wrong` are the weights that it rests on. Times are seconds since 1970.
    """

    threshold: float | None
    since: float
    changed_at: float
    right: float = 0.0
    wrong: float = 0.0
