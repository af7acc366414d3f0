"""H5: what candidates are sorted by. All functions see the same results, each once, and answer in [0, 1].

BM25 and two of its relatives say how well texts answer the words of another text:

- `bm25`: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
- `bm25plus`: Lv and Zhai, "Lower-bounding term frequency normalization", CIKM 2011: a word that occurs is worth at
  least `DELTA`, however long the text.
- `bm25f`: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004: the fields'
  counts are added up, each weighted and normalised by its own length, before they saturate.

Each score is divided by the most that a text could reach, so that it lies in [0, 1] and keeps its order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.model import Issue
from bot.ranking.rarity import Rarity, WordStats
from bot.ranking.similarity import dice_sorensen
from bot.text.terms import TITLE_READ, read, terms, without_noise

K1, B, DELTA = 1.2, 0.75, 1.0
#: What a word in a title counts beside one in a body.
TITLE_WEIGHT, BODY_WEIGHT = 3.0, 1.0

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Text:
    """A text in two fields: how often each term occurs in its title and in its body."""

    title: Counts
    body: Counts

    @property
    def length(self) -> int:
        """Terms in both fields."""
        return sum(self.title.values()) + sum(self.body.values())

    def count(self, term: str) -> int:
        """How often a term occurs in both."""
        return self.title.get(term, 0) + self.body.get(term, 0)


def bm25(terms: Mapping[str, float], texts: Sequence[Text], least: float = 0.0) -> list[float]:
    """Score `texts` for a question. `terms` are its words with what each is worth (IDF × how often it is asked).

    A word that occurs counts at least so much, however long the text.
    """
    dampened = [K1 * spread for spread in _spreads([text.length for text in texts])]

    def rate(at: int, term: str) -> float:
        count = texts[at].count(term)
        return least + count * (K1 + 1) / (count + dampened[at])

    return _scored(terms, texts, rate, K1 + 1 + least)


def bm25plus(terms: Mapping[str, float], texts: Sequence[Text]) -> list[float]:
    """Like `bm25`, with the lower bound that keeps long texts from losing to those without the word."""
    return bm25(terms, texts, DELTA)


def bm25f(terms: Mapping[str, float], texts: Sequence[Text]) -> list[float]:
    """Like `bm25`, with title and body as fields of their own."""
    titles = [TITLE_WEIGHT / spread for spread in _spreads([sum(text.title.values()) for text in texts])]
    bodies = [BODY_WEIGHT / spread for spread in _spreads([sum(text.body.values()) for text in texts])]

    def rate(at: int, term: str) -> float:
        count = titles[at] * texts[at].title.get(term, 0) + bodies[at] * texts[at].body.get(term, 0)
        return count / (K1 + count)

    return _scored(terms, texts, rate, 1.0)


def inverse_document_frequency(total: int, containing: int) -> float:
    """ln(1 + (N - n + ½) / (n + ½)), never negative: what a term is worth that `containing` of `total` have."""
    containing = min(containing, total)
    return math.log(1 + (total - containing + 0.5) / (containing + 0.5))


def _scored(
    terms: Mapping[str, float], texts: Sequence[Text], rate: Callable[[int, str], float], most: float
) -> list[float]:
    """`rate` says what a term counts in the text at a place, at most `most`."""
    worth = most * sum(terms.values())
    if not worth > 0:
        return [0.0] * len(texts)
    return [
        min(sum(value * rate(at, term) for term, value in terms.items() if text.count(term)) / worth, 1.0)
        for at, text in enumerate(texts)
    ]


def _spreads(lengths: Sequence[int]) -> list[float]:
    """1 - b + b·length/mean: how each text's length dampens its counts. The mean is that of the texts at hand."""
    mean = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    return [1 - B + B * length / mean for length in lengths]


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
