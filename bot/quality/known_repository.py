"""The repository that `doppel find` and the agents' tools search, with its settings and people's decisions."""

from __future__ import annotations

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
from bot.text.github_urls import named_by

SHADOW = "mode: shadow"
"""The reason for silence in shadow mode, in which the bot checks issues but does not comment."""


@dataclass(frozen=True, slots=True)
class CommentPreview:
    """The comment that the bot would post by itself on an issue, under the repository's settings.

    `named` holds the candidates at or above `threshold`; those at or above `likely` are called likely. `silence` says
    why the bot would not post the comment, and is empty if the bot would post it.
    """

    named: tuple[Candidate, ...]
    threshold: float
    likely: float = LIKELY
    silence: str = ""

    def names(self, candidate: Candidate) -> bool:
        return any(_identity(one) == _identity(candidate) for one in self.named)

    def word(self, candidate: Candidate) -> Likelihood | None:
        """The candidate's probability as a word (P4); None if no model judged the candidate."""
        return None if candidate.confidence is None else likelihood(candidate.confidence, self.likely)


def _identity(candidate: Candidate) -> tuple[str, str, int]:
    return candidate.repo, candidate.kind, candidate.number


@dataclass(frozen=True, slots=True)
class KnownRepository:
    """A repository that can be searched: its settings, a finder with these settings, and the host's `store`, if any.

    `indexed` says whether the finder searches this host's index. The finder does so only if the index is complete.
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
        """`options` with people's verdicts. Issues that the target names are shown and marked."""
        return replace(options, **self._verdict_options(target), named=named_by(target), show_named=True)

    def comment_preview(self, target: Issue, gathered: Gathered) -> CommentPreview:
        """The comment that the bot would post if the issue were opened now (P6). `gathered`: the sources' results."""
        config, threshold = self.settings.config, self.threshold().value
        options = replace(bot_options(config, target, threshold, **self._verdict_options(target)), explained=False)
        report = self.finder.find(target, options, gathered)
        muted = "/duplicates mute" if self.is_muted(target.number) else ""
        # No setting makes the bot comment on pull requests (C1).
        ignored = "it is a pull request" if target.is_pull_request else config.why_ignored(target) or ""
        mode = "" if config.mode == "comment" else f"mode: {config.mode}"
        # In shadow mode, the bot does not check muted or ignored issues, so `muted` and `ignored` precede the mode.
        # In mode `off`, the bot checks no issue, so the mode comes first.
        silence = (muted or ignored or mode) if mode == SHADOW else (mode or muted or ignored)
        return CommentPreview(report.candidates, threshold, config.likely, silence)

    def _verdict_options(self, target: Issue) -> dict[str, Any]:
        """People's verdicts, as fields of `FindOptions`. The bot's own issues count as rejected."""
        if self.store is None:
            return {"rejected": (), "rejected_elsewhere": (), "duplicates": {}}
        decisions = decisions_on_pairs(self.store, self.id)
        return {
            "rejected": decisions.different_from(target.number) | self.store.own_issues(self.id),
            "rejected_elsewhere": self.store.verdicts.rejected_elsewhere(self.id, target.number),
            "duplicates": decisions.originals,
        }
