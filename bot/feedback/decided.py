"""What people decided about pairs of a repository's issues: labels for finder, scan and evaluation alike. Pure.

Of all that was said of a pair what counts most holds, and of equals the latest (C4, C7): a triager's word outweighs the
author's, and whoever changes their mind says so later. A new title decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.feedback.examples import Example
from bot.judgements import Kind

Pair = tuple[int, int]
"""Two issues' numbers, the smaller one first."""

DECIDING = frozenset({Kind.REACTION, Kind.BOX, Kind.VOTE, Kind.CLOSED, Kind.SUGGESTION, Kind.NOT, Kind.OF})
"""How people decide: a new title may have had other reasons."""


@dataclass(frozen=True, slots=True)
class Decided:
    """`same` and `different` are pairs. `originals` says of issues of which other one they are duplicates: the later of
    a pair, or the one that `of` has closed.
    """

    same: frozenset[Pair] = frozenset()
    different: frozenset[Pair] = frozenset()
    originals: Mapping[int, int] = field(default_factory=dict)

    def different_from(self, number: int) -> set[int]:
        """The issues that are not the same as this one."""
        return {one for pair in self.different if number in pair for one in pair} - {number}


UNDECIDED = Decided()
"""Where nobody has decided anything."""


def pair_of(one: int, other: int) -> Pair:
    """The two as a pair."""
    return min(one, other), max(one, other)


def decided(made: Iterable[Example], closed_for: Mapping[int, int]) -> Decided:
    """What holds, from all that was said; `closed_for` is what commands have closed in favour of what, and holds."""
    last: dict[Pair, Example] = {}
    # Of what was said at once, that it is another thing.
    for one in sorted(made, key=lambda one: (one.weight, one.at, not one.same)):
        if one.kind in DECIDING:
            last[pair_of(one.number, one.other)] = one
    same = frozenset(pair for pair, one in last.items() if one.same)
    different = frozenset(last) - same
    commanded = {number: of for number, of in closed_for.items() if pair_of(number, of) not in different}
    return Decided(same, different, {later: earlier for earlier, later in sorted(same)} | commanded)
