"""Merging groups (D8): which item survives, its counters, and the order of the groups. Pure.

Callers form the groups: a playbook's entries by connected components, issues by a linkage that does not chain.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Items that are one, as positions in the list; `helpful` and `harmful` are their sums."""

    members: tuple[int, ...]
    helpful: int
    harmful: int

    @property
    def survivor(self) -> int:
        """The position of the item that stays: the first."""
        return self.members[0]

    @property
    def absorbed(self) -> tuple[int, ...]:
        """The positions of the items that merge into it."""
        return self.members[1:]


def merge(labels: Sequence[Hashable], helpful: Sequence[int], harmful: Sequence[int]) -> list[Group]:
    """Group items with equal labels, in the order of their survivors; a single item is a group too. Takes O(n).

    The three lists hold one value for each item, in order of precedence: the first of a group survives.
    """
    members: dict[Hashable, list[int]] = {}
    for position, (label, _, _) in enumerate(zip(labels, helpful, harmful, strict=True)):
        members.setdefault(label, []).append(position)
    return [
        Group(tuple(group), sum(helpful[one] for one in group), sum(harmful[one] for one in group))
        for group in members.values()
    ]
