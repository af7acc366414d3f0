"""A repository as who asks about its issues beside the bot sees it: the command line, and tools for agents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bot.calibration.bar import Bar, bar_in_force
from bot.feedback.reading import decided_in
from bot.finder import Finder, FindOptions, bot_options
from bot.finder.asking import Gathered
from bot.model import Issue
from bot.repositories.settings import Loaded
from bot.repositories.unasked import SHADOW, Unasked
from bot.store import Store
from bot.text.naming import named_by


@dataclass(frozen=True, slots=True)
class KnownRepository:
    """The repository `id`: its settings, what finds as they say, and what this host's `store` knows of it besides.

    `indexed` is whether the finder asks this host's index, which is complete then. `store` is None where there is none.
    """

    id: int
    settings: Loaded
    finder: Finder
    indexed: bool
    store: Store | None

    def bar(self) -> Bar:
        """From which probability on the bot speaks there."""
        calibration = self.store.calibrations.get(self.id) if self.store else None
        return bar_in_force(self.settings.config, calibration)

    def is_muted(self, number: int) -> bool:
        """Whether somebody said that the bot shall leave this issue alone."""
        return self.store is not None and self.store.muted.is_muted(self.id, number)

    def options_for(self, target: Issue, options: FindOptions) -> FindOptions:
        """The options with what people decided here, and with the mark on what the target's text names already."""
        return replace(options, **self._decided(target), named=named_by(target), show_named=True)

    def unasked(self, target: Issue, gathered: Gathered) -> Unasked:
        """What the bot's comment on the issue would name of these hits if it were opened now (P6)."""
        config, bar = self.settings.config, self.bar().value
        options = replace(bot_options(config, target, bar, **self._decided(target)), explained=False)
        report = self.finder.find(target, options, gathered)
        muted = "/duplicates mute" if self.is_muted(target.number) else ""
        ignored = _never_answered(target) or config.why_ignored(target.author.login, target.labels, target.title) or ""
        mode = "" if config.mode == "comment" else f"mode: {config.mode}"
        # What is muted or ignored is left alone in shadow mode too.
        silence = muted or ignored or mode if mode == SHADOW else mode or muted or ignored
        return Unasked(report.candidates, bar, config.likely, silence)

    def _decided(self, target: Issue) -> dict[str, Any]:
        """What people decided about the target, as `FindOptions` has it; the bot's own issues are rejected, too."""
        if self.store is None:
            return {"rejected": (), "rejected_elsewhere": (), "duplicates": {}}
        decided = decided_in(self.store, self.id)
        return {
            "rejected": decided.different_from(target.number) | self.store.own_issues(self.id),
            "rejected_elsewhere": self.store.elsewhere.rejected(self.id, target.number),
            "duplicates": decided.originals,
        }


def _never_answered(target: Issue) -> str:
    """Why the bot leaves such a target alone whatever the settings say (C1); empty if it does not."""
    if target.is_pull_request:
        return "it is a pull request"
    return "a bot opened it" if target.author.is_bot else ""
