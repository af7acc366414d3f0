"""BM25 and two of its relatives: how well texts answer the words of another text.

- `bm25`: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
- `bm25plus`: Lv and Zhai, "Lower-bounding term frequency normalization", CIKM 2011: a word that occurs is worth at
  least `DELTA`, however long the text.
- `bm25f`: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004: the fields'
  counts are added up, each weighted and normalised by its own length, before they saturate.

Each score is divided by the most that a text could reach, so that it lies in [0, 1] and keeps its order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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


#: From a text to what each term counts in it; what is the same for all terms, its length above all, is reckoned once.
Rate = Callable[[Text], Callable[[str], float]]


def bm25(terms: Mapping[str, float], texts: Sequence[Text]) -> list[float]:
    """Score `texts` for a question. `terms` are its words with what each is worth (IDF × how often it is asked)."""
    return _scored(terms, texts, _saturating(texts), K1 + 1)


def bm25plus(terms: Mapping[str, float], texts: Sequence[Text]) -> list[float]:
    """Like `bm25`, with the lower bound that keeps long texts from losing to those without the word."""
    return _scored(terms, texts, _saturating(texts, DELTA), K1 + 1 + DELTA)


def bm25f(terms: Mapping[str, float], texts: Sequence[Text]) -> list[float]:
    """Like `bm25`, with title and body as fields of their own."""
    titles = _spreads([sum(text.title.values()) for text in texts])
    bodies = _spreads([sum(text.body.values()) for text in texts])

    def rate(text: Text) -> Callable[[str], float]:
        title = TITLE_WEIGHT / titles(sum(text.title.values()))
        body = BODY_WEIGHT / bodies(sum(text.body.values()))

        def of(term: str) -> float:
            count = title * text.title.get(term, 0) + body * text.body.get(term, 0)
            return count / (K1 + count)

        return of

    return _scored(terms, texts, rate, 1.0)


def inverse_document_frequency(total: int, containing: int) -> float:
    """ln(1 + (N - n + ½) / (n + ½)), never negative: what a term is worth that `containing` of `total` have."""
    containing = min(containing, total)
    return math.log(1 + (total - containing + 0.5) / (containing + 0.5))


def _saturating(texts: Sequence[Text], least: float = 0.0) -> Rate:
    """How often a term occurs, saturated, above the `least` that one counts which occurs."""
    spread = _spreads([text.length for text in texts])

    def rate(text: Text) -> Callable[[str], float]:
        dampened = K1 * spread(text.length)
        return lambda term: least + text.count(term) * (K1 + 1) / (text.count(term) + dampened)

    return rate


def _scored(terms: Mapping[str, float], texts: Sequence[Text], rate: Rate, most: float) -> list[float]:
    worth = most * sum(terms.values())
    if not worth > 0:
        return [0.0] * len(texts)
    return [
        min(sum(value * of(term) for term, value in terms.items() if text.count(term)) / worth, 1.0)
        for text, of in zip(texts, map(rate, texts), strict=True)
    ]


def _spreads(lengths: Sequence[int]) -> Callable[[int], float]:
    """1 - b + b·length/mean: how a text's length dampens its counts. The mean is that of the texts at hand."""
    mean = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    return lambda length: 1 - B + B * length / mean
