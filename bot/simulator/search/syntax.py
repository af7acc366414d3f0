"""The syntax tree of a query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """One word (both parts of `a-b` must occur, in any order), or a quoted phrase (its words stand side by side)."""

    value: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Qualifier:
    """`name:value`, `name:a,b` (a or b) or `-name:a,b` (neither a nor b)."""

    name: str
    values: tuple[str, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class And:
    """Matches if all children match; without children, always."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Matches if at least one child matches."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Matches if the child does not."""

    child: Node


Node = Text | Qualifier | And | Or | Not


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. A result must match at least one qualifier of each group in `scopes` (repo, user, org).

    `fields` has what `in:` names, if anything. `texts` has the words and phrases that are not under NOT. `kinds` has
    what `is:` and `type:` demand (`issue`, `pr`), except under NOT. `is_advanced`: the query has an OR or parentheses.
    """

    root: Node
    texts: tuple[Text, ...]
    scopes: tuple[tuple[Qualifier, ...], ...]
    fields: frozenset[str]
    sort: str
    kinds: frozenset[str]
    is_advanced: bool
