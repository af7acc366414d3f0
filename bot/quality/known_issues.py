"""A repository as the command line, the dashboard and agents search it: settings, finder, and people's decisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.domain.entities import Issue
from bot.domain.likelihood import LIKELY, Likelihood, likelihood
from bot.domain.report import Candidate
from bot.quality.calibration import Threshold, threshold_in_force
from bot.quality.feedback import decisions_on_pairs
from bot.search.finder import Finder, FindOptions, bot_options
from bot.search.repository_settings import LoadedSettings
from bot.search.sources.federated import Gathered
from bot.storage import Store
from bot.storage.repositories import WordCounts
from bot.text.github_urls import named_by
from bot.text.terms import read

SHADOW = "mode: shadow"
"""The reason for silence of a bot that checks issues all the same."""


@dataclass(frozen=True, slots=True)
class CommentPreview:
    """What the bot's own comment on an issue would say, by the settings of the repository.

    `named` are the candidates at or over `threshold`; the upper tier begins at `likely`. `silence` says why the bot
    would post nothing all the same, and is empty if it would.
    """

    named: tuple[Candidate, ...]
    threshold: float
    likely: float = LIKELY
    silence: str = ""

    def names(self, candidate: Candidate) -> bool:
        """Whether the comment would name this candidate."""
        return any(_identity(one) == _identity(candidate) for one in self.named)

    def word(self, candidate: Candidate) -> Likelihood | None:
        """The candidate's probability as a word (P4); None if no model judged it."""
        return None if candidate.confidence is None else likelihood(candidate.confidence, self.likely)


def _identity(candidate: Candidate) -> tuple[str, str, int]:
    return candidate.repo, candidate.kind, candidate.number


@dataclass(frozen=True, slots=True)
class RepositoryWords:
    """One repository's word statistics for the finder, without the words of the `target` itself.

    The first check counts the target. With its words, a re-check would send other queries than that check.
    """

    words: WordCounts
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


@dataclass(frozen=True, slots=True)
class KnownRepository:
    """The repository `id`: its settings, a finder for these, and this host's `store`, if there is one.

    `indexed` says whether the finder searches this host's index, which is then complete.
    """

    id: int
    settings: LoadedSettings
    finder: Finder
    indexed: bool
    store: Store | None

    def threshold(self) -> Threshold:
        calibration = self.store.calibrations.get(self.id) if self.store else None
        return threshold_in_force(self.settings.config, calibration)

    def is_muted(self, number: int) -> bool:
        return self.store is not None and self.store.muted.is_muted(self.id, number)

    def options_for(self, target: Issue, options: FindOptions) -> FindOptions:
        """The options with people's verdicts here, and a mark on issues that the target's text names already."""
        return replace(options, **self._decided(target), named=named_by(target), show_named=True)

    def unasked(self, target: Issue, gathered: Gathered) -> CommentPreview:
        """The bot's comment on these hits, if the issue were opened now (P6)."""
        config, threshold = self.settings.config, self.threshold().value
        options = replace(bot_options(config, target, threshold, **self._decided(target)), explained=False)
        report = self.finder.find(target, options, gathered)
        muted = "/duplicates mute" if self.is_muted(target.number) else ""
        # The bot never answers pull requests, whatever the settings say (C1).
        ignored = "it is a pull request" if target.is_pull_request else config.why_ignored(target) or ""
        mode = "" if config.mode == "comment" else f"mode: {config.mode}"
        # A muted or ignored issue is not checked in shadow mode either.
        silence = muted or ignored or mode if mode == SHADOW else mode or muted or ignored
        return CommentPreview(report.candidates, threshold, config.likely, silence)

    def _decided(self, target: Issue) -> dict[str, Any]:
        """People's verdicts about the target, as fields of `FindOptions`. The bot's own issues are rejected too."""
        if self.store is None:
            return {"rejected": (), "rejected_elsewhere": (), "duplicates": {}}
        decided = decisions_on_pairs(self.store, self.id)
        return {
            "rejected": decided.different_from(target.number) | self.store.own_issues(self.id),
            "rejected_elsewhere": self.store.elsewhere.rejected(self.id, target.number),
            "duplicates": decided.originals,
        }
