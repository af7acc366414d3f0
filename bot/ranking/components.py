"""What is tied together, however long the chain: connected components, by union-find. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def components(members: Iterable[T], ties: Iterable[tuple[T, T]]) -> dict[T, T]:
    """For each of the members, and of what the ties name, one member that stands for its whole component."""
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
