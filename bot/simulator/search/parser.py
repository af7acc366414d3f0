"""Turns a query into its tree. Refuses a query that exceeds GitHub's limits.

NOT binds tighter than AND, and AND tighter than OR. A space means AND. See GitHub's "Filtering
and searching issues and pull requests". Unpaired parentheses and lone operators are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from bot.simulator.search import errors
from bot.simulator.search.lexer import Kind, Lexeme, lex
from bot.simulator.search.syntax import And, Node, Not, Or, Qualifier, Query, Text

LONGEST_TEXT: Final = 256
# Bounds the whole query, because LONGEST_TEXT does not count qualifiers. GitHub bounds the URL's length instead.
LONGEST_QUERY: Final = 4_096
MOST_OPERATORS: Final = 5
DEEPEST_NESTING: Final = 5

_OR = Lexeme(Kind.OPERATOR, "OR")
_SCOPES = frozenset({"repo", "user", "org"})
_FIELDS = {"title": "title", "body": "body", "comment": "comments", "comments": "comments"}
_KINDS = {"issue": "issue", "issues": "issue", "pr": "pr", "pull-request": "pr"}


def parse(q: str, names: frozenset[str]) -> Query:
    """Parse a query; `names` are the known qualifiers. Raises QueryError if GitHub would answer 422."""
    if not q.strip():
        raise errors.missing()
    if len(q) > LONGEST_QUERY:
        raise errors.too_long()
    lexemes = lex(q, names)
    _check_limits(lexemes)
    global_qualifiers = [lexeme for lexeme in lexemes if _is_global(lexeme)]
    rest = _balanced([lexeme for lexeme in lexemes if not _is_global(lexeme)])
    root = _Parser(rest).parse()
    leaves = list(_leaves_outside_not(root))
    return Query(
        root=root,
        texts=tuple(leaf for leaf in leaves if isinstance(leaf, Text)),
        scopes=_scopes(lexemes),
        fields=frozenset(_FIELDS[value] for value in _values(global_qualifiers, "in") if value in _FIELDS),
        sort=next(iter(_values(global_qualifiers, "sort")), ""),
        kinds=frozenset(kind for leaf in leaves if isinstance(leaf, Qualifier) for kind in _kinds(leaf)),
        is_advanced=any(lexeme.kind is Kind.OPEN or lexeme == _OR for lexeme in rest),
    )


def _check_limits(lexemes: Sequence[Lexeme]) -> None:
    text = [lexeme for lexeme in lexemes if lexeme.kind in (Kind.WORD, Kind.PHRASE)]
    # Spaces between terms, and quotation marks, count towards the text's length.
    length = sum(len(term.text) + 2 * (term.kind is Kind.PHRASE) for term in text) + max(0, len(text) - 1)
    if length > LONGEST_TEXT:
        raise errors.too_long()
    if sum(lexeme.kind is Kind.OPERATOR for lexeme in lexemes) > MOST_OPERATORS:
        raise errors.too_many_operators()


def _is_global(lexeme: Lexeme) -> bool:
    """Whether the lexeme is a qualifier that concerns the whole query, wherever it stands."""
    return lexeme.kind is Kind.QUALIFIER and (
        lexeme.text in ("in", "sort") or (lexeme.text in _SCOPES and not lexeme.negated)
    )


def _scopes(lexemes: Sequence[Lexeme]) -> tuple[tuple[Qualifier, ...], ...]:
    """The qualifiers `repo:`, `user:` and `org:`. With an OR between them they are alternatives; otherwise all apply.

    GitHub's own command line relies on this in its search of issues (https://github.com/cli/cli/pull/11638).
    """
    groups: list[list[Qualifier]] = []
    ungrouped = [lexeme for lexeme in lexemes if lexeme.kind not in (Kind.OPEN, Kind.CLOSE)]
    for position, lexeme in enumerate(ungrouped):
        if not _is_scope(lexeme):
            continue
        if position > 1 and ungrouped[position - 1] == _OR and _is_scope(ungrouped[position - 2]):
            groups[-1].append(_qualifier(lexeme))
        else:
            groups.append([_qualifier(lexeme)])
    return tuple(map(tuple, groups))


def _is_scope(lexeme: Lexeme) -> bool:
    return _is_global(lexeme) and lexeme.text in _SCOPES


def _values(lexemes: Sequence[Lexeme], name: str) -> list[str]:
    return [
        value.lower() for lexeme in lexemes if lexeme.text == name and not lexeme.negated for value in lexeme.values
    ]


def _qualifier(lexeme: Lexeme) -> Qualifier:
    return Qualifier(lexeme.text, lexeme.values, lexeme.negated)


def _balanced(lexemes: Sequence[Lexeme]) -> list[Lexeme]:
    """The lexemes without unpaired parentheses. Raises QueryError if groups nest too deeply."""
    opened: list[int] = []
    paired: set[int] = set()
    for position, lexeme in enumerate(lexemes):
        if lexeme.kind is Kind.OPEN:
            opened.append(position)
        elif lexeme.kind is Kind.CLOSE and opened:
            paired |= {opened.pop(), position}
    balanced = [
        lexeme
        for position, lexeme in enumerate(lexemes)
        if lexeme.kind not in (Kind.OPEN, Kind.CLOSE) or position in paired
    ]
    steps = ({Kind.OPEN: 1, Kind.CLOSE: -1}.get(lexeme.kind, 0) for lexeme in balanced)
    if max(accumulate(steps), default=0) > DEEPEST_NESTING:
        raise errors.invalid("Parentheses can be nested up to five levels deep.")
    return balanced


def _leaves_outside_not(node: Node) -> Iterator[Text | Qualifier]:
    """The leaves of a tree that are not under NOT, in order."""
    match node:
        case Text() | Qualifier():
            yield node
        case And(children) | Or(children):
            for child in children:
                yield from _leaves_outside_not(child)


def _kinds(qualifier: Qualifier) -> Iterator[str]:
    if qualifier.name in ("is", "type") and not qualifier.negated:
        yield from (_KINDS[value.lower()] for value in qualifier.values if value.lower() in _KINDS)


class _Parser:
    """Recursive descent over balanced lexemes; its depth is bounded by the limits on parentheses and operators."""

    def __init__(self, lexemes: Sequence[Lexeme]) -> None:
        self._lexemes = lexemes
        self._position = 0

    def parse(self) -> Node:
        return self._any_of() or And(())

    def _at_operator(self, name: str) -> bool:
        lexeme = self._peek()
        return lexeme is not None and lexeme.kind is Kind.OPERATOR and lexeme.text == name

    def _peek(self) -> Lexeme | None:
        return self._lexemes[self._position] if self._position < len(self._lexemes) else None

    def _any_of(self) -> Node | None:
        alternatives = [self._all_of()]
        while self._at_operator("OR"):
            self._position += 1
            alternatives.append(self._all_of())
        children = tuple(node for node in alternatives if node is not None)
        return Or(children) if len(children) > 1 else next(iter(children), None)

    def _all_of(self) -> Node | None:
        children: list[Node] = []
        while (lexeme := self._peek()) and lexeme.kind is not Kind.CLOSE and not self._at_operator("OR"):
            node = self._operand()
            if node is not None:
                children.append(node)
        return And(tuple(children)) if len(children) > 1 else next(iter(children), None)

    def _operand(self) -> Node | None:
        lexeme = self._lexemes[self._position]
        self._position += 1
        match lexeme.kind:
            case Kind.OPEN:
                inner = self._any_of()
                # Parentheses are balanced, so the group ended at its closing parenthesis.
                self._position += 1
                return inner
            case Kind.OPERATOR:
                # AND means the same as a space, so AND is dropped. A NOT without an operand is dropped, too.
                has_operand = (after := self._peek()) and after.kind is not Kind.CLOSE and not self._at_operator("OR")
                if lexeme.text != "NOT" or not has_operand:
                    return None
                child = self._operand()
                return Not(child) if child is not None else None
            case Kind.QUALIFIER:
                return _qualifier(lexeme)
            case _:
                return Text(lexeme.text, quoted=lexeme.kind is Kind.PHRASE)
