"""From what was found for each issue to the groups that a maintainer is shown. Pure.

Who survives, what is summed and in which order is D8's general merging core (`bot/knowledge/merging.py`): an issue is
an entry, the oldest survives as the proposed original, 👍 and 👎 are the counters.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.knowledge.merging import merge
from bot.scanning.answers import Answer, Found
from bot.scanning.backlog import Entry
from bot.scanning.linkage import Pair, linked

#: Every two of a group are the same with at least this probability. docs/scan.md says what it was chosen by.
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Member:
    """An issue that may repeat the original: how likely, in [0, 1], and what speaks for it."""

    entry: Entry
    confidence: float
    reasons: tuple[str, ...]


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
                _json(one.entry) | {"confidence": round(one.confidence, 4), "reasons": list(one.reasons)}
                for one in self.members
            ],
            "closable": self.closable,
            "gain": round(self.gain, 3),
            "thumbs_up": self.thumbs_up,
            "thumbs_down": self.thumbs_down,
            "comments": self.comments,
        }


def grouped(
    backlog: Sequence[Entry],
    answers: Iterable[Answer],
    *,
    threshold: float = THRESHOLD,
    rejected: Collection[Pair] = (),
) -> list[Group]:
    """The groups of a backlog, those first that a maintainer gains most by.

    `backlog` comes from the oldest on; what is not in it is in no group. Nor are the pairs that people `rejected`, each
    with the smaller number first.
    """
    known = {entry.number for entry in backlog}
    found: dict[Pair, Found] = {}
    for answer in answers:
        if answer.number in known:
            for one in answer.found:
                pair = (min(answer.number, one.number), max(answer.number, one.number))
                if one.confidence >= threshold and one.number in known and pair not in rejected:
                    found[pair] = one
    label = {
        number: numbers[0]
        for numbers in linked({pair: one.confidence for pair, one in found.items()}, threshold)
        for number in numbers
    }
    merged = merge(
        [label.get(entry.number, entry.number) for entry in backlog],
        [entry.thumbs_up for entry in backlog],
        [entry.thumbs_down for entry in backlog],
    )
    groups = []
    for group in merged:
        if group.absorbed:
            original = backlog[group.survivor]
            members = tuple(_member(original, backlog[place], found) for place in group.absorbed)
            comments = sum(backlog[place].comments for place in group.members)
            groups.append(Group(original, members, group.helpful, group.harmful, comments))
    # Sorting is stable: of equals the older group stays first.
    return sorted(groups, key=lambda group: -group.gain)


def _member(original: Entry, entry: Entry, found: dict[Pair, Found]) -> Member:
    """Complete linkage has compared every two, so every member with the original."""
    one = found[min(original.number, entry.number), max(original.number, entry.number)]
    return Member(entry, one.confidence, one.reasons)


def _attention(entry: Entry) -> int:
    return entry.thumbs_up + entry.thumbs_down + entry.comments


def _json(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "title": entry.title,
        "state": entry.state,
        "created_at": entry.created_at.isoformat(),
        "thumbs_up": entry.thumbs_up,
        "thumbs_down": entry.thumbs_down,
        "comments": entry.comments,
    }
