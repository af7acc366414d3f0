"""Groups candidates that are duplicates of one another; the member that the discussion belongs in leads the group.

Pure. Numbers are of one repository, where the smaller number is the older issue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

T = TypeVar("T", bound=Hashable)


def components(members: Iterable[T], ties: Iterable[tuple[T, T]]) -> dict[T, T]:
    """For each of the members, and of those in ties, one member that represents its connected component."""
    parent: dict[T, T] = {}

    def root(member: T) -> T:
        parent.setdefault(member, member)
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    for member in members:
        root(member)
    for one, other in ties:
        parent[root(one)] = root(other)
    return {member: root(member) for member in parent}


class Stated(Protocol):
    """What is needed of an issue; `bot.domain.entities.Issue` and the index's issues have it."""

    @property
    def state(self) -> str: ...
    @property
    def state_reason(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Issues that report one thing: its `lead`, and the `others`, oldest first.

    `found` are the members that were candidates, best first.
    """

    lead: int
    others: tuple[int, ...]
    found: tuple[int, ...]


def resolve(
    ranked: Sequence[int], originals: Mapping[int, int], known: Mapping[int, Stated], may_lead: Collection[int]
) -> list[DuplicateGroup]:
    """Group candidates; each group takes the place of its best candidate.

    `ranked` are candidates, best first. Groups are the connected components of `originals`, which maps duplicates to
    their originals. Members must be in `known`; the lead must be in `may_lead`, and a group without one is left out.
    The oldest open member leads; else the oldest closed as completed, which may have come back; else the oldest.
    """
    of = components(ranked, originals.items())
    members: defaultdict[int, set[int]] = defaultdict(set)
    for number, group in of.items():
        if number in known:
            members[group].add(number)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for number in ranked:
        found[of[number]].append(number)
    groups = []
    for group, candidates in found.items():
        leaders = members[group] & set(may_lead)
        if leaders:
            lead = min(leaders, key=lambda number: (_rank(known[number]), number))
            groups.append(DuplicateGroup(lead, tuple(sorted(members[group] - {lead})), tuple(candidates)))
    return groups


def _rank(issue: Stated) -> int:
    if issue.state == "open":
        return 0
    return 1 if issue.state_reason == "completed" else 2
