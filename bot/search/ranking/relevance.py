"""How rare words are in a repository, and the relevance functions by which candidates are sorted (H5).

Words are counted in a sample of issues: counts in 200 issues order words by rarity nearly as well as counts in all.
Each BM25 function scales its scores to [0, 1] by the highest possible score:

- `bm25`: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
- `bm25plus`: Lv and Zhai, "Lower-bounding term frequency normalization", CIKM 2011: a word in the text counts at least
  1 (`DELTA`), however long the text is.
- `bm25f`: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004: a word's
  counts in the fields are weighted, normalised by each field's length, and added up; the sum saturates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from bot.domain.entities import Issue
from bot.search.ranking.similarity import dice_sorensen
from bot.text.terms import TITLE_READ, read, terms, without_noise


@dataclass(frozen=True, slots=True)
class WordRarity:
    """How many of `total` issues have each word. If `total` is 0, all words are equally rare."""

    total: int
    counts: Mapping[str, int]

    @classmethod
    def of(cls, stats: CountedWords, words: Collection[str]) -> WordRarity:
        """Look up the counts of `words`."""
        return cls(stats.total(), stats.counts(words))

    def count(self, word: str) -> int:
        """In how many issues the word was seen."""
        return self.counts.get(word, 0)

    def __call__(self, word: str) -> float:
        """The rarity of a word: 1 for a word that no issue has, 0.1 for a word that all of 500 issues have.

        This is an inverse document frequency divided by its largest value, to compare repositories of any size.
        """
        seen = min(self.count(word), self.total)
        return math.log(1 + (self.total + 1) / (seen + 0.5)) / math.log(1 + (self.total + 1) / 0.5)


class CountedWords:
    """In how many issues of one repository each word was seen."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._issues: set[int] = set()

    def total(self) -> int:
        """How many issues were counted."""
        return len(self._issues)

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        """In how many issues each word occurs. Words that occur in no issue are missing."""
        return {word: self._counts[word] for word in words if word in self._counts}

    def add(self, issues: Mapping[int, Collection[str]]) -> None:
        """Count the words of issues, given by number. Each issue counts only once."""
        for number, words in issues.items():
            if number not in self._issues:
                self._issues.add(number)
                self._counts.update(set(words))


# BM25's constants: `K1` limits how much repetitions of a word count, `B` says how much the length of a text matters.
K1, B, DELTA = 1.2, 0.75, 1.0
TITLE_WEIGHT, BODY_WEIGHT = 3.0, 1.0

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """A text in two fields, with the counts of each term."""

    title: Counts
    body: Counts

    def count(self, term: str) -> int:
        """How often a term occurs in both fields together."""
        return self.title.get(term, 0) + self.body.get(term, 0)


def bm25(weights: Mapping[str, float], texts: Sequence[FieldCounts], least: float = 0.0) -> list[float]:
    """Score `texts` for a question's terms, by the terms' weights (IDF × count in the question).

    A word in the text counts at least `least`, however long the text is.
    """
    lengths = [sum(text.title.values()) + sum(text.body.values()) for text in texts]
    damping = [K1 * factor for factor in _damping(lengths)]

    def rate(i: int, term: str) -> float:
        count = texts[i].count(term)
        return least + count * (K1 + 1) / (count + damping[i])

    return _scored(weights, texts, rate, K1 + 1 + least)


bm25plus = partial(bm25, least=DELTA)


def bm25f(weights: Mapping[str, float], texts: Sequence[FieldCounts]) -> list[float]:
    """`bm25` with title and body as separate fields."""
    title_factors = [TITLE_WEIGHT / factor for factor in _damping([sum(text.title.values()) for text in texts])]
    body_factors = [BODY_WEIGHT / factor for factor in _damping([sum(text.body.values()) for text in texts])]

    def rate(i: int, term: str) -> float:
        count = title_factors[i] * texts[i].title.get(term, 0) + body_factors[i] * texts[i].body.get(term, 0)
        return count / (K1 + count)

    return _scored(weights, texts, rate, 1.0)


def inverse_document_frequency(total: int, containing: int) -> float:
    """The weight of a term that `containing` of `total` issues have; never negative."""
    containing = min(containing, total)
    return math.log(1 + (total - containing + 0.5) / (containing + 0.5))


def _scored(
    weights: Mapping[str, float], texts: Sequence[FieldCounts], rate: Callable[[int, str], float], most: float
) -> list[float]:
    """Score the texts. `rate` gets a text's index and a term, and returns at most `most`."""
    highest = most * sum(weights.values())
    if not highest > 0:
        return [0.0] * len(texts)
    return [
        min(sum(weight * rate(i, term) for term, weight in weights.items() if text.count(term)) / highest, 1.0)
        for i, text in enumerate(texts)
    ]


def _damping(lengths: Sequence[int]) -> list[float]:
    """How much each text's length dampens its counts: 1 for a text of average length, more for a longer one."""
    mean = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    return [1 - B + B * length / mean for length in lengths]


class Relevance(StrEnum):
    """The relevance functions by name."""

    TITLE = "title"
    BM25 = "bm25"
    BM25F = "bm25f"
    BM25PLUS = "bm25plus"
    LEARNED = "learned"


DEFAULT_RELEVANCE = Relevance.LEARNED

_BY_WORDS: dict[Relevance, Callable[[Mapping[str, float], Sequence[FieldCounts]], list[float]]] = {
    Relevance.BM25: bm25,
    Relevance.BM25F: bm25f,
    Relevance.BM25PLUS: bm25plus,
}


def relevances(
    by: Relevance, target: Issue, candidates: Sequence[Issue], confidences: Sequence[float], stats: CountedWords
) -> list[float]:
    """How relevant each candidate is to the target by the relevance function `by`, in [0, 1].

    `title` compares the titles by `dice_sorensen` (F5). The BM25 functions use the words of the target's whole text,
    weighted by rarity in the repository. `learned` gives the candidates' `confidences`.
    """
    if by is Relevance.LEARNED:
        return list(confidences)
    if by is Relevance.TITLE:
        return [dice_sorensen(target.title, candidate.title) for candidate in candidates]
    counts = read(target.title, target.body).all
    rarity = WordRarity.of(stats, counts.keys())
    weights = {
        term: count * inverse_document_frequency(rarity.total, rarity.count(term)) for term, count in counts.items()
    }
    return _BY_WORDS[by](weights, [_text(candidate) for candidate in candidates])


def _text(issue: Issue) -> FieldCounts:
    return FieldCounts(Counter(terms(issue.title[:TITLE_READ])), Counter(terms(without_noise(issue.body))))
