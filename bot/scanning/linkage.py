"""Complete linkage: which issues stand together so that every two of a group are likely the same. Pure.

Groups of one to begin with; the two groups whose least likely pair is the likeliest become one, again and again, until
every such pair is below the threshold (Sørensen, 1948; "farthest neighbour"). So a chain of weak links glues nothing
together, and an umbrella issue that resembles everything joins one group at most: what resembles the umbrella must
resemble each other too.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

Pair = tuple[int, int]
"""Two numbers, the smaller one first."""


def linked(likely: Mapping[Pair, float], threshold: float) -> list[tuple[int, ...]]:
    """The groups of two and more, each in ascending order, those with the smallest numbers first.

    `likely` says of pairs how likely they are the same, in [0, 1]; what it does not name is no pair. In each group
    every two are a pair of at least `threshold`. The order of the mapping does not matter: of equally likely merges the
    one with the smaller numbers is done first. O(n log n) in the pairs where groups are small.
    """
    # Between each two groups their least likely pair; a group is known by its smallest number.
    near: dict[int, dict[int, float]] = {}
    for (one, other), chance in likely.items():
        if chance >= threshold:
            near.setdefault(one, {})[other] = chance
            near.setdefault(other, {})[one] = chance
    members: dict[int, tuple[int, ...]] = {number: (number,) for number in near}
    heap = [(-chance, one, other) for one, others in near.items() for other, chance in others.items() if one < other]
    heapq.heapify(heap)
    while heap:
        chance, one, other = heapq.heappop(heap)
        # Entries of groups that have changed since are stale.
        if one in near and near[one].get(other) == -chance:
            members[one] += members.pop(other)
            _merge(near, one, other)
            for third, least in near[one].items():
                heapq.heappush(heap, (-least, min(one, third), max(one, third)))
    return sorted(tuple(sorted(group)) for group in members.values() if len(group) > 1)


def _merge(near: dict[int, dict[int, float]], one: int, other: int) -> None:
    """`other` becomes a part of `one`, which stays near only what both were near."""
    mine, gone = near[one], near.pop(other)
    del mine[other]
    for third in gone:
        if third != one:
            del near[third][other]
    for third in list(mine):
        if third in gone:
            mine[third] = near[third][one] = min(mine[third], gone[third])
        else:
            del mine[third], near[third][one]
