"""From a query's tree to something that selects documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.simulator.search.analysis import Vocabulary, tokens, units
from bot.simulator.search.document import Document
from bot.simulator.search.inverted import FieldIndex
from bot.simulator.search.matching import AllMatcher, AnyMatcher, Matcher, PhraseMatcher, TermMatcher, TestMatcher
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
        return self._compile(node) or TestMatcher(lambda document: True, self.universe)

    def terms(self, text: Text) -> list[list[int]]:
        """The term numbers of a text: parts that must all occur, each of terms that must stand side by side."""
        parts = [tokens(text.value)] if text.quoted else units(text.value)
        return [[self.vocabulary.find(word) for word in part] for part in parts if part]

    def _compile(self, node: Node) -> Matcher | None:
        match node:
            case Text():
                return _all([self._part(part) for part in self.terms(node)])
            case And(children):
                return _all([matcher for child in children if (matcher := self._compile(child))])
            case Or(children):
                matchers = [matcher for child in children if (matcher := self._compile(child))]
                return AnyMatcher(matchers) if len(matchers) > 1 else _all(matchers)
            case Not(child):
                excluded = self._compile(child)
                return TestMatcher(lambda document: not excluded.test(document), self.universe) if excluded else None
            case Qualifier():
                allows = predicate(node, self.surroundings)
                return TestMatcher(lambda document: allows(self.documents[document]), self.universe)

    def _part(self, terms: Sequence[int]) -> Matcher:
        return TermMatcher(terms[0], self.fields) if len(terms) == 1 else PhraseMatcher(terms, self.fields)


def _all(matchers: Sequence[Matcher]) -> Matcher | None:
    return AllMatcher(matchers) if len(matchers) > 1 else next(iter(matchers), None)
