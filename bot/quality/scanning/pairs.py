"""A scan's values: issues of the backlog, the answers for them, and groups. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.domain.entities import State
from bot.domain.report import Reason


@dataclass(frozen=True, slots=True)
class Entry:
    """An issue of the backlog. If it is not `dated`, its `created_at` is not known."""

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
    """An earlier issue, the probability that it is the same, and the reasons (C3)."""

    number: int
    confidence: float
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found for an issue when the index had seen `sequence` changes, and by which `model`."""

    number: int
    sequence: int
    model: str
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """An issue that may repeat the original, the probability that it does, and the reasons."""

    entry: Entry
    confidence: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Issues that may report the same thing, `members` oldest first. The counts are sums over all of them."""

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
        """What a maintainer gains by going through the group: closed issues, weighted by the people concerned.

        The sum over the open members of confidence × (1 + log10(1 + 👍 + 👎 + comments)).
        """
        attention = ((one.confidence, one.entry) for one in self.members if one.entry.state == "open")
        return sum(
            confidence * (1 + math.log10(1 + entry.thumbs_up + entry.thumbs_down + entry.comments))
            for confidence, entry in attention
        )

    def to_json(self) -> dict[str, Any]:
        """For programs; names are as in GitHub's JSON of an issue."""
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
    """The groups of a backlog, and the number of its `issues`. Every pair in a group has at least `threshold`."""

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
