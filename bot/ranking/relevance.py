"""H5: what candidates are sorted by. All functions see the same results, each once, and answer in [0, 1]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from bot.model import Issue
from bot.ranking.bm25 import Text, bm25, bm25f, bm25plus, inverse_document_frequency
from bot.ranking.rarity import Rarity, WordStats
from bot.ranking.similarity import dice_sorensen
from bot.text.terms import TITLE_READ, read, terms, without_noise


class Relevance(StrEnum):
    """The functions by name."""

    TITLE = "title"
    BM25 = "bm25"
    BM25F = "bm25f"
    BM25PLUS = "bm25plus"
    LEARNED = "learned"


DEFAULT_RELEVANCE = Relevance.LEARNED

_BY_WORDS: dict[Relevance, Callable[[Mapping[str, float], Sequence[Text]], list[float]]] = {
    Relevance.BM25: bm25,
    Relevance.BM25F: bm25f,
    Relevance.BM25PLUS: bm25plus,
}


def relevances(
    by: Relevance, target: Issue, candidates: Sequence[Issue], confidences: Sequence[float], stats: WordStats
) -> list[float]:
    """How relevant each candidate is to the target, in [0, 1].

    `title` is F5 on the titles; the BM25 functions ask with the words of the target's whole text, weighed by how rare
    they are in the repository; `learned` is the candidates' own `confidences`.
    """
    if by is Relevance.LEARNED:
        return list(confidences)
    if by is Relevance.TITLE:
        return [dice_sorensen(target.title, candidate.title) for candidate in candidates]
    asked = read(target.title, target.body).all
    rarity = Rarity.of(stats, asked.keys())
    worth = {
        term: count * inverse_document_frequency(rarity.total, rarity.count(term)) for term, count in asked.items()
    }
    return _BY_WORDS[by](worth, [_text(candidate) for candidate in candidates])


def _text(issue: Issue) -> Text:
    return Text(Counter(terms(issue.title[:TITLE_READ])), Counter(terms(without_noise(issue.body))))
