"""The statistics of a repository's words that this host has stored, as who asks about one of its issues sees them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.model import Issue
from bot.store.parts.words import Words
from bot.text.terms import read


@dataclass(frozen=True, slots=True)
class RepositoryWords:
    """One repository's word statistics, as the finder takes them: an issue's own words are no evidence about it.

    Without that a re-check would ask other queries than the look before it, after which `target` was counted.
    """

    words: Words
    repo_id: int
    target: Issue

    def total(self) -> int:
        """How many other issues were counted."""
        return self.words.total(self.repo_id, but=self.target.number)

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        """In how many other issues each word occurs."""
        counts = self.words.counts(self.repo_id, words)
        if not self.words.includes(self.repo_id, self.target.number):
            return counts
        own = read(self.target.title, self.target.body).counted()
        return {word: count - (word in own) for word, count in counts.items()}

    def add(self, issues: Mapping[int, Collection[str]]) -> None:
        """Count the words of issues that were not counted before."""
        self.words.add(self.repo_id, issues)
