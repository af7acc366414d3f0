"""From what was found for each issue to the groups that a maintainer is shown. Pure.

They are linked completely: groups of one to begin with; the two groups whose least likely pair is the likeliest become
one, again and again, until every such pair is below the threshold (Sørensen, 1948; "farthest neighbour"). So a chain of
weak links glues nothing together, and an umbrella issue that resembles everything joins one group at most: what
resembles the umbrella must resemble each other too.

Who survives, what is summed and in which order is D8's general merging core (`bot/knowledge/merging.py`): an issue is
an entry, the oldest survives as the proposed original, 👍 and 👎 are the counters.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bot.feedback.decided import UNDECIDED, Decided, pair_of
from bot.knowledge.merging import merge
from bot.scanning.model import Answer, Entry, Found, Group, Member

#: Every two of a group are the same with at least this probability. docs/research/accuracy.md says why.
THRESHOLD = 0.15


def grouped(
    backlog: Sequence[Entry],
    answers: Iterable[Answer],
    *,
    threshold: float = THRESHOLD,
    decided: Decided = UNDECIDED,
) -> list[Group]:
    """The groups of a backlog, those first that a maintainer gains most by.

    `backlog` comes from the oldest on; what is not in it is in no group. What people have `decided` holds, whatever was
    found: pairs that are the same are sure, and those that are different are in no group together.
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
    """Complete linkage has compared every two, so every member with the original."""
    one = found[min(original.number, entry.number), max(original.number, entry.number)]
    return Member(entry, one.confidence, one.reasons)


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
