"""Merges equivalent items into groups (D2, D8): one item survives, and the counters of all are summed. Pure.

`bot.interfaces.agents` merges an agent's playbook. The backlog scan merges issues; their counters are 👍 and 👎.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Equivalent items, as positions in the caller's list. `helpful` and `harmful` are the items' summed counters."""

    members: tuple[int, ...]
    helpful: int
    harmful: int

    @property
    def survivor(self) -> int:
        """The position of the item that stays, the first."""
        return self.members[0]

    @property
    def absorbed(self) -> tuple[int, ...]:
        """The positions of the items that merge into the survivor."""
        return self.members[1:]


def merge(labels: Sequence[Hashable], helpful: Sequence[int], harmful: Sequence[int]) -> list[Group]:
    """Group items with equal labels, in the order of the survivors. A single item is a group too.

    Each list has one value per item, in the same order. The first item of a group survives.
    """
    members: dict[Hashable, list[int]] = {}
    # The counters are not used here: `zip` checks that all lists are equally long.
    for position, (label, _, _) in enumerate(zip(labels, helpful, harmful, strict=True)):
        members.setdefault(label, []).append(position)
    return [
        Group(tuple(group), sum(helpful[i] for i in group), sum(harmful[i] for i in group))
        for group in members.values()
    ]
