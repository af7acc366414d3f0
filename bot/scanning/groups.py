"""From what was found for each issue to the groups that a maintainer is shown. Pure.

Who survives, what is summed and in which order is D8's general merging core (`bot/knowledge/merging.py`): an issue is
an entry, the oldest survives as the proposed original, 👍 and 👎 are the counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.feedback.decided import UNDECIDED, Decided, pair_of
from bot.knowledge.merging import merge
from bot.scanning.linkage import Pair, linked
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
