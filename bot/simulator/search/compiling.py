"""Compiles a query's tree into a matcher, which selects documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.simulator.search import matching
from bot.simulator.search.analysis import Vocabulary, tokens, units
from bot.simulator.search.document import Document
from bot.simulator.search.inverted import FieldIndex
from bot.simulator.search.matching import Matcher
from bot.simulator.search.qualifiers import Surroundings, predicate
from bot.simulator.search.syntax import And, Node, Not, Or, Qualifier, Text


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles trees. `documents` maps ids to documents; `universe` gives the ids that the query can reach."""

    vocabulary: Vocabulary
    fields: Sequence[FieldIndex]
    documents: Mapping[int, Document]
    universe: Callable[[], Iterable[int]]
    surroundings: Surroundings

    def compile(self, node: Node) -> Matcher:
        """The matcher of a tree, without text that has no letter or digit. If nothing is left, all documents match."""
        return self._compile(node) or matching.FilterMatcher(lambda doc_id: True, self.universe)

    def terms(self, text: Text) -> list[list[int]]:
        """The term numbers of a text's parts. A document must have all parts, with a part's terms side by side."""
        parts = [tokens(text.value)] if text.quoted else units(text.value)
        return [[self.vocabulary.find(word) for word in part] for part in parts if part]

    def _compile(self, node: Node) -> Matcher | None:
        match node:
            case Text():
                return _combined(matching.AllMatcher, map(self._part, self.terms(node)))
            case And(children):
                return _combined(matching.AllMatcher, map(self._compile, children))
            case Or(children):
                return _combined(matching.AnyMatcher, map(self._compile, children))
            case Not(child):
                excluded = self._compile(child)
                return matching.NotMatcher(excluded, self.universe) if excluded else None
            case Qualifier():
                allows = predicate(node, self.surroundings)
                return matching.FilterMatcher(lambda doc_id: allows(self.documents[doc_id]), self.universe)

    def _part(self, terms: Sequence[int]) -> Matcher:
        if len(terms) == 1:
            return matching.TermMatcher(terms[0], self.fields)
        return matching.PhraseMatcher(terms, self.fields)


def _combined(combine: Callable[[list[Matcher]], Matcher], parts: Iterable[Matcher | None]) -> Matcher | None:
    matchers = [part for part in parts if part is not None]
    return combine(matchers) if len(matchers) > 1 else next(iter(matchers), None)
