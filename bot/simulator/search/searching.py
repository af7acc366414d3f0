"""Finds and scores the documents for one query, by its words or by similarity."""

from __future__ import annotations

from collections.abc import Mapping

from bot.simulator.search import semantic
from bot.simulator.search.analysis import Vocabulary
from bot.simulator.search.compiling import Compiler
from bot.simulator.search.document import Document
from bot.simulator.search.inverted import FieldIndex
from bot.simulator.search.qualifiers import Surroundings
from bot.simulator.search.ranking import BODY_WEIGHT, COMMENTS_WEIGHT, TITLE_WEIGHT, bm25
from bot.simulator.search.syntax import And, Node, Query, Text
from bot.simulator.search.view import View

_WEIGHTS = {"title": TITLE_WEIGHT, "body": BODY_WEIGHT, "comments": COMMENTS_WEIGHT}


class Search:
    """Finds and scores the documents for one parsed query, in the fields that it names; in all if it names none."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        fields: Mapping[str, FieldIndex],
        documents: Mapping[int, Document],
        query: Query,
        view: View,
        surroundings: Surroundings,
    ) -> None:
        self._documents = documents
        self._query = query
        self._view = view
        self._weighted = [(field, _WEIGHTS[name]) for name, field in fields.items() if name in (query.fields or fields)]
        self._compiler = Compiler(
            vocabulary, [field for field, _ in self._weighted], documents, view.documents, surroundings
        )
        # A repeated term counts once. A term that no document contains now does not count.
        self._terms = dict.fromkeys(
            term
            for text in query.texts
            for part in self._compiler.terms(text)
            for term in part
            if any(term in field.postings for field, _ in self._weighted)
        )

    def lexical(self, *, ranked: bool) -> dict[int, float]:
        """The documents that match the whole query, with BM25 scores; all 1.0 if not `ranked`, or without text."""
        matches = self._view.narrow(self._compiler.compile(self._query.root).select())
        if ranked and self._terms:
            return bm25(self._terms, self._weighted, matches)
        return dict.fromkeys(matches, 1.0)

    def similar(self, *, with_exact: bool) -> dict[int, float]:
        """The most similar documents that pass the qualifiers. `with_exact`: matches of the whole query get a bonus."""
        qualified = self._compiler.compile(_without_text(self._query.root))
        return semantic.similar(
            self._terms,
            " ".join(text.value for text in self._query.texts),
            [field for field, _ in self._weighted],
            self._documents,
            allowed=lambda documents: qualified.narrow(self._view.narrow(documents)),
            exact=self._compiler.compile(self._query.root).select() if with_exact else set(),
        )


def _without_text(node: Node) -> Node:
    """Only the tree's qualifiers and NOTs: semantic search requires no words. A tree for semantic search has no OR."""
    match node:
        case Text():
            return And(())  # Matches everything.
        case And(children):
            return And(tuple(_without_text(child) for child in children))
        case _:
            return node
