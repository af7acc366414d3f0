"""Groups issues by the backlog scan's answers, and defines the scan's data types. Pure.

Groups come from complete linkage (Sørensen, 1948; "farthest neighbour"). Each issue starts as a
group. The probability for two groups is the lowest of all pairs with one issue from each group.
Each step merges the likeliest two groups, until no two groups reach the threshold. So a chain of weak links joins
nothing. An umbrella issue joins one group at most, and the group's other members must be alike.

`bot/domain/merging.py` (D8) then takes the oldest issue of each group as the proposed original, and adds up the 👍
(`helpful`) and the 👎 (`harmful`) of the group.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from bot.domain.entities import State
from bot.domain.merging import merge
from bot.domain.report import Reason
from bot.quality.feedback import UNDECIDED, Decided, Pair, pair_of


@dataclass(frozen=True, slots=True)
class BacklogIssue:
    number: int
    title: str
    state: State
    created_at: datetime
    thumbs_up: int = 0
    thumbs_down: int = 0
    comments: int = 0


@dataclass(frozen=True, slots=True)
class ScanMatch:
    """An earlier issue that an issue may repeat, the probability of that, and the reasons (C3)."""

    number: int
    confidence: float
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """An issue's matches found after index change `sequence`. `model`: `BacklogMatcher.version`."""

    number: int
    sequence: int
    model: str
    found: tuple[ScanMatch, ...]


@dataclass(frozen=True, slots=True)
class GroupMember:
    """An issue that may repeat the original, with the probability and the reasons."""

    entry: BacklogIssue
    confidence: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Issues that may report the same thing; `members` are oldest first. Counts are sums over members and original."""

    original: BacklogIssue
    members: tuple[GroupMember, ...]
    thumbs_up: int
    thumbs_down: int
    comments: int

    @property
    def closable(self) -> int:
        return sum(member.entry.state == "open" for member in self.members)

    @property
    def gain(self) -> float:
        """A maintainer's gain from handling the group: the issues to close, weighted by how many people they concern.

        The sum over the open members of confidence × (1 + log10(1 + 👍 + 👎 + comments)).
        """
        to_close = ((one.confidence, one.entry) for one in self.members if one.entry.state == "open")
        return sum(
            confidence * (1 + math.log10(1 + entry.thumbs_up + entry.thumbs_down + entry.comments))
            for confidence, entry in to_close
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values, with names as in GitHub's JSON of an issue."""
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
class ScanResult:
    """The groups found in a backlog of `issues` issues. `closed` says whether the backlog includes closed issues.

    Every pair in a group has at least the probability `threshold`.
    """

    groups: tuple[DuplicateGroup, ...]
    issues: int
    closed: bool
    threshold: float

    @property
    def closable(self) -> int:
        return sum(group.closable for group in self.groups)

    def to_json(self) -> dict[str, Any]:
        return {
            "issues": self.issues,
            "include_closed": self.closed,
            "confidence": self.threshold,
            "closable": self.closable,
            "groups": [group.to_json() for group in self.groups],
        }


def _json(entry: BacklogIssue) -> dict[str, Any]:
    return asdict(entry) | {"created_at": entry.created_at.isoformat()}


#: The least probability of any pair in a group; docs/research/accuracy.md gives the reason.
THRESHOLD = 0.15


def grouped(
    backlog: Sequence[BacklogIssue],
    answers: Iterable[ScanAnswer],
    *,
    threshold: float = THRESHOLD,
    decided: Decided = UNDECIDED,
) -> list[DuplicateGroup]:
    """The groups of a backlog, the most useful for a maintainer first.

    `backlog` is sorted oldest first. Groups contain only issues of the backlog. People's decisions override the
    answers: a `same` pair is certain, and a `different` pair is never in one group.
    """
    known = {entry.number for entry in backlog}
    found = {pair: ScanMatch(min(pair), 1.0, ()) for pair in decided.same if known.issuperset(pair)}
    for answer in answers:
        if answer.number in known:
            for one in answer.found:
                pair = pair_of(answer.number, one.number)
                # Each pair is in one answer, the later issue's. So a pair that `found` already has is from `decided`.
                if pair in found:
                    found[pair] = replace(found[pair], reasons=one.reasons)
                elif one.confidence >= threshold and one.number in known and pair not in decided.different:
                    found[pair] = one
    group_of = {
        number: numbers[0]
        for numbers in linked({pair: one.confidence for pair, one in found.items()}, threshold)
        for number in numbers
    }
    merged = merge(
        [group_of.get(entry.number, entry.number) for entry in backlog],
        [entry.thumbs_up for entry in backlog],
        [entry.thumbs_down for entry in backlog],
    )
    groups = []
    for group in merged:
        if group.absorbed:
            original = backlog[group.survivor]
            # Complete linkage guarantees that each member has a match with the original.
            matches = [(backlog[at], found[pair_of(original.number, backlog[at].number)]) for at in group.absorbed]
            members = tuple(GroupMember(entry, match.confidence, match.reasons) for entry, match in matches)
            comments = sum(backlog[at].comments for at in group.members)
            groups.append(DuplicateGroup(original, members, group.helpful, group.harmful, comments))
    # Sorting is stable, so among equal groups the older group stays first.
    return sorted(groups, key=lambda group: -group.gain)


def linked(likely: Mapping[Pair, float], threshold: float) -> list[tuple[int, ...]]:
    """The groups of two or more issues, sorted by number.

    `likely` maps pairs to probabilities in [0, 1]. Every pair in a group is in `likely`, with a probability of at least
    `threshold`. Among equally likely merges, the merge with the smallest numbers comes first, so that the order
    of the mapping does not matter. The time is O(n log n) in the number of pairs if groups are small.
    """
    # The probability for each pair of groups that can merge. A group's key is its smallest number.
    near: dict[int, dict[int, float]] = {}
    for (one, other), chance in likely.items():
        if chance >= threshold:
            near.setdefault(one, {})[other] = chance
            near.setdefault(other, {})[one] = chance
    members: dict[int, tuple[int, ...]] = {number: (number,) for number in near}
    heap = [(-chance, one, other) for one, others in near.items() for other, chance in others.items() if one < other]
    heapq.heapify(heap)
    while heap:
        minus_chance, one, other = heapq.heappop(heap)
        # Skip stale entries, whose groups have changed.
        if one in near and near[one].get(other) == -minus_chance:
            members[one] += members.pop(other)
            _merge(near, one, other)
            for third, least in near[one].items():
                heapq.heappush(heap, (-least, min(one, third), max(one, third)))
    return sorted(tuple(sorted(group)) for group in members.values() if len(group) > 1)


def _merge(near: dict[int, dict[int, float]], one: int, other: int) -> None:
    """Merge `other` into `one`, and keep only the neighbours that both groups had."""
    own_near, other_near = near[one], near.pop(other)
    del own_near[other]
    for third in other_near:
        if third != one:
            del near[third][other]
    for third in list(own_near):
        if third in other_near:
            least = min(own_near[third], other_near[third])
            own_near[third], near[third][one] = least, least
        else:
            del own_near[third], near[third][one]
