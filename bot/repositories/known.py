"""A repository as who asks about its issues beside the bot sees it: the command line, and tools for agents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.calibration.bar import Bar, bar_in_force
from bot.finder import Finder
from bot.repositories.settings import Loaded
from bot.store import Store


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

    def rejected(self, number: int) -> Collection[int]:
        """The issues of which people said by `/duplicates not` that they are another thing, and the bot's own."""
        return self.store.verdicts.rejected(self.id, number) | self.store.own_issues(self.id) if self.store else ()

    def rejected_elsewhere(self, number: int) -> Collection[str]:
        """Other repositories' issues of which they said the same, as `owner/repo#number` in lower case."""
        return self.store.elsewhere.rejected(self.id, number) if self.store else ()

    def originals(self) -> Mapping[int, int]:
        """Which issues people closed by `/duplicates of` as duplicates of which."""
        return self.store.verdicts.originals(self.id) if self.store else {}

    def is_muted(self, number: int) -> bool:
        """Whether somebody said that the bot shall leave this issue alone."""
        return self.store is not None and self.store.muted.is_muted(self.id, number)
