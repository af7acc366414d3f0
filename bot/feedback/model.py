"""What people say to a decision, and how much that counts. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How somebody said it.

    `REACTION`: 👍 or 👎 on the comment. `BOX`: a box ticked in the digest. `VOTE`: a button of the dashboard. `CLOSED`:
    the issue was closed, as a duplicate or otherwise. `RETITLED`: a new title after which a candidate is shown no more.
    `NOT` and `OF` are the commands.
    """

    REACTION = "reaction"
    BOX = "box"
    VOTE = "vote"
    CLOSED = "closed"
    RETITLED = "retitled"
    NOT = "not"
    OF = "of"


class Who(StrEnum):
    """What they may do in the repository: triage and up, its issue's author, or anybody else."""

    TRIAGE = "triage"
    AUTHOR = "author"
    OTHER = "other"


RIGHT: Mapping[Who, float] = {Who.TRIAGE: 1.0, Who.AUTHOR: 0.5, Who.OTHER: 0.0}
"""How much a word counts by who says it: those who keep the issues know them all, the author knows one, and of
strangers nobody knows how many accounts they have."""

WORTH: Mapping[Kind, float] = {
    Kind.REACTION: 1.0,
    Kind.BOX: 1.0,
    Kind.VOTE: 1.0,
    Kind.CLOSED: 1.0,
    Kind.RETITLED: 0.5,
    Kind.NOT: 1.0,
    Kind.OF: 1.0,
}
"""How much it counts by how it is said: a new title may have had other reasons."""


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


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair: whether `number` and `other` report the same thing, as `login` said by `kind` at `at`.

    `weight` is in (0, 1]. `probability` is the bot's own at the time, None where the pair was not among the best;
    `shown` whether the comment named it. `said` is False where it only follows: who closes an issue otherwise does not
    say that it repeats nothing.
    """

    number: int
    other: int
    same: bool
    kind: Kind
    login: str
    who: Who
    at: float
    weight: float
    probability: float | None
    shown: bool
    said: bool = True
