"""What a scan deals in: issues of the backlog, what was found for them, and groups. Pure values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.model import State
from bot.report import Reason


@dataclass(frozen=True, slots=True)
class Entry:
    """An issue of the backlog; what people gave it is counted. Where it is not `dated`, nobody knows `created_at`."""

    number: int
    title: str
    state: State
    created_at: datetime
    thumbs_up: int = 0
    thumbs_down: int = 0
    comments: int = 0
    dated: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """An earlier issue, how likely it is the same, in [0, 1], and what speaks for it (C3)."""

    number: int
    confidence: float
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found for an issue when the index had seen `sequence` changes, by which `model`."""

    number: int
    sequence: int
    model: str
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """An issue that may repeat the original: how likely, in [0, 1], and what speaks for it."""

    entry: Entry
    confidence: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Issues that report the same thing, perhaps. Counts are sums over all of them; `members` come oldest first."""

    original: Entry
    members: tuple[Member, ...]
    thumbs_up: int
    thumbs_down: int
    comments: int

    @property
    def closable(self) -> int:
        """How many issues could be closed in favour of the original."""
        return sum(member.entry.state == "open" for member in self.members)

    @property
    def gain(self) -> float:
        """What a maintainer gains by going through the group: the issues that can be expected to be closed, each
        counted more the more people would be brought together.

        The sum over the open members of confidence × (1 + log10(1 + 👍 + 👎 + comments)).
        """
        return sum(
            member.confidence * (1 + math.log10(1 + _attention(member.entry)))
            for member in self.members
            if member.entry.state == "open"
        )

    def to_json(self) -> dict[str, Any]:
        """For programs; the names are those of the issue's own JSON on GitHub where there are such."""
        return {
            "original": _json(self.original),
            "members": [
                _json(one.entry) | {"confidence": round(one.confidence, 4), "reasons": list(map(str, one.reasons))}
                for one in self.members
            ],
            "closable": self.closable,
            "gain": round(self.gain, 3),
            "thumbs_up": self.thumbs_up,
            "thumbs_down": self.thumbs_down,
            "comments": self.comments,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """The groups of a backlog of `issues`, open ones or, with `closed`, all; every two of a group are the same with a
    probability of at least `threshold`.
    """

    groups: tuple[Group, ...]
    issues: int
    closed: bool
    threshold: float

    @property
    def closable(self) -> int:
        """How many issues could be closed."""
        return sum(group.closable for group in self.groups)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "issues": self.issues,
            "include_closed": self.closed,
            "confidence": self.threshold,
            "closable": self.closable,
            "groups": [group.to_json() for group in self.groups],
        }


def _attention(entry: Entry) -> int:
    return entry.thumbs_up + entry.thumbs_down + entry.comments


def _json(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "title": entry.title,
        "state": entry.state,
        "created_at": entry.created_at.isoformat() if entry.dated else None,
        "thumbs_up": entry.thumbs_up,
        "thumbs_down": entry.thumbs_down,
        "comments": entry.comments,
    }
