"""How rare a word is in a repository, which makes a shared word evidence and a search word useful.

The statistics are small. They count issues that arrive and, on first contact with a repository, a page or two of recent
ones: a sample of 200 issues ranks words nearly as well as all of them (docs/research/accuracy.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol


class WordStats(Protocol):
    """In how many issues of one repository each word was seen."""

    def total(self) -> int:
        """How many issues were counted."""
        ...

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        """In how many issues each of `words` occurs; words that occur in none may be missing."""
        ...

    def add(self, issues: Mapping[int, Collection[str]]) -> None:
        """Count the words of issues, by number; an issue that was counted before may be left out."""
        ...


@dataclass(frozen=True, slots=True)
class WordRarity:
    """The counts of some words at one moment. With `total` 0 all words are equally rare."""

    total: int
    counts: Mapping[str, int]

    @classmethod
    def of(cls, stats: WordStats, words: Collection[str]) -> WordRarity:
        """Look up `words`, and only them."""
        return cls(stats.total(), stats.counts(words))

    def count(self, word: str) -> int:
        """In how many issues the word was seen."""
        return self.counts.get(word, 0)

    def __call__(self, word: str) -> float:
        """The word's rarity in (0, 1]: 1 for a word never seen, near 0 for one that every issue has.

        It is the inverse document frequency divided by its largest value, so that it means the same in small and large
        repositories.
        """
        seen = min(self.count(word), self.total)
        return math.log(1 + (self.total + 1) / (seen + 0.5)) / math.log(1 + (self.total + 1) / 0.5)


class CountedWords:
    """WordStats in memory. With more than `most` words, those seen once are dropped: they say the least."""

    def __init__(self, most: int = 200_000) -> None:
        self._most = most
        self._counts: Counter[str] = Counter()
        self._issues: set[int] = set()

    def total(self) -> int:
        return len(self._issues)

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        return {word: self._counts[word] for word in words if word in self._counts}

    def add(self, issues: Mapping[int, Collection[str]]) -> None:
        for number, words in issues.items():
            if number not in self._issues:
                self._issues.add(number)
                self._counts.update(set(words))
        if len(self._counts) > self._most:
            self._counts = Counter({word: count for word, count in self._counts.items() if count > 1})
