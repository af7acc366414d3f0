"""The merging core (D8): who survives of a group, what its counters are then, and in which order groups stand. Pure.

It does not ask why things are in one group: a playbook's entries are grouped by connected components, issues by a
linkage that does not chain.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Things that are one, as positions in the list that they came in; `helpful` and `harmful` are sums over them."""

    members: tuple[int, ...]
    helpful: int
    harmful: int

    @property
    def survivor(self) -> int:
        """The position of the one that stays: the first."""
        return self.members[0]

    @property
    def absorbed(self) -> tuple[int, ...]:
        """The positions of those that go into it, in their order."""
        return self.members[1:]


def merge(labels: Sequence[Hashable], helpful: Sequence[int], harmful: Sequence[int]) -> list[Group]:
    """The groups of things with equal labels, in the order of their survivors; a thing alone is a group too.

    The things come in order of precedence, since the first of a group survives: entries as they stand in their
    playbook, issues from the oldest on. The three lists go together, one place a thing. Takes O(n).
    """
    members: dict[Hashable, list[int]] = {}
    for position, (label, _, _) in enumerate(zip(labels, helpful, harmful, strict=True)):
        members.setdefault(label, []).append(position)
    return [
        Group(tuple(group), sum(helpful[one] for one in group), sum(harmful[one] for one in group))
        for group in members.values()
    ]
