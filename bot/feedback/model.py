"""How much it counts what people say to a decision. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.judgements import Kind, Who

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
class Example:
    """One labelled pair: whether `number` and `other` report the same thing, as `login` said by `kind` at `at`.

    `weight` is in (0, 1]. `probability` is the bot's own at the time, None where the pair was not among the best;
    `shown` whether the comment named it.
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
