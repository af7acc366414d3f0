"""Makes the groups that a maintainer sees from the answers for each issue. Pure.

This is complete linkage (Sørensen, 1948; "farthest neighbour"): each issue starts as a group, and the two groups whose
least likely pair is the likeliest are merged, until every such pair is below the threshold. So a chain of weak links
joins nothing, and an umbrella issue joins at most one group, whose members must resemble each other too.

The survivor, the sums and the order are D8's merging core (`bot/domain/merging.py`): an issue is an entry, the
oldest survives as the proposed original, 👍 and 👎 are the counters.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bot.domain.merging import merge
from bot.quality.feedback import UNDECIDED, Decided, pair_of
from bot.quality.scanning.pairs import Answer, Entry, Found, Group, Member

#: The least probability of any pair in a group; for the reason see docs/research/accuracy.md.
THRESHOLD = 0.15


def grouped(
    backlog: Sequence[Entry],
    answers: Iterable[Answer],
    *,
    threshold: float = THRESHOLD,
    decided: Decided = UNDECIDED,
) -> list[Group]:
    """The groups of a backlog, those with most gain for a maintainer first.

    `backlog` is sorted from the oldest on; other issues are in no group. What people have `decided` overrides the
    answers: pairs that are the same are certain, and pairs that are different are never in one group.
    """
    known = {entry.number for entry in backlog}
    found = {pair: Found(pair[0], 1.0, ()) for pair in decided.same if known.issuperset(pair)}
    for answer in answers:
        if answer.number in known:
            for one in answer.found:
                pair = pair_of(answer.number, one.number)
                if pair in found:
                    found[pair] = replace(found[pair], reasons=one.reasons)
                elif one.confidence >= threshold and one.number in known and pair not in decided.different:
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
    """The member with its pair's evidence: complete linkage has compared it with the original, too."""
    one = found[min(original.number, entry.number), max(original.number, entry.number)]
    return Member(entry, one.confidence, one.reasons)


Pair = tuple[int, int]
"""Two numbers, the smaller one first."""


def linked(likely: Mapping[Pair, float], threshold: float) -> list[tuple[int, ...]]:
    """The groups of two or more, sorted by number.

    `likely` has the probability of each pair in [0, 1]; other pairs are not the same. In each group every two have at
    least `threshold`. Among equally likely merges the one with the smaller numbers comes first, so that the order of
    the mapping does not matter. O(n log n) in the pairs if groups are small.
    """
    # The least likely pair between any two groups; a group is known by its smallest number.
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
    """Merge `other` into `one`, which stays near only what both were near."""
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
