"""From a query's tree to something that selects documents."""

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
    """What a tree is compiled against: the fields searched, the documents, and those that are in reach at all."""

    vocabulary: Vocabulary
    fields: Sequence[FieldIndex]
    documents: Mapping[int, Document]
    universe: Callable[[], Iterable[int]]
    surroundings: Surroundings

    def compile(self, node: Node) -> Matcher:
        """The matcher of a tree; text without a single letter or digit asks for nothing and is left out."""
        return self._compile(node) or matching.FilterMatcher(lambda document: True, self.universe)

    def terms(self, text: Text) -> list[list[int]]:
        """The term numbers of a text: parts that must all occur, each of terms that must stand side by side."""
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
                return matching.FilterMatcher(lambda document: allows(self.documents[document]), self.universe)

    def _part(self, terms: Sequence[int]) -> Matcher:
        if len(terms) == 1:
            return matching.TermMatcher(terms[0], self.fields)
        return matching.PhraseMatcher(terms, self.fields)


def _combined(combine: Callable[[list[Matcher]], Matcher], parts: Iterable[Matcher | None]) -> Matcher | None:
    matchers = [part for part in parts if part is not None]
    return combine(matchers) if len(matchers) > 1 else next(iter(matchers), None)
