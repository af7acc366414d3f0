"""The tree that a query becomes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """One word (its parts must all occur, in any order), or a quoted phrase (its words must stand side by side)."""

    value: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Qualifier:
    """`name:value`, `name:a,b` (any of them) or `-name:value` (none of them)."""

    name: str
    values: tuple[str, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class And:
    """All of them; without children: everything."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Everything else."""

    child: Node


Node = Text | Qualifier | And | Or | Not


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `scopes` (repo, user, org) are groups of alternatives; each group holds for the whole query, like
    `fields` and `sort`.

    `fields` is empty where the query names none. `texts` are the terms that a match must or may have, in order;
    those under NOT are not among them. `is_nested` tells of OR or parentheses.
    """

    root: Node
    texts: tuple[Text, ...]
    scopes: tuple[tuple[Qualifier, ...], ...]
    fields: frozenset[str]
    sort: str
    kinds: frozenset[str]
    is_nested: bool
