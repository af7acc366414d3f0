"""What this host has stored of a repository, for who asks about its issues beside the bot: command line and agents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.calibration.bar import Bar, bar_in_force
from bot.calibration.keeping import Calibrations
from bot.config.model import RepoConfig
from bot.matching import Matcher
from bot.store import Store


@dataclass(frozen=True, slots=True)
class KnownRepository:
    """The repository `id` in this host's `store`, None where there is none yet.

    `matcher` finds in the index of it; None until that is complete.
    """

    id: int
    store: Store | None = None
    matcher: Matcher | None = None

    def bar(self, config: RepoConfig) -> Bar:
        """From which probability on the bot speaks there, with the settings as they are."""
        return bar_in_force(config, Calibrations(self.store.engine).get(self.id) if self.store else None)

    def rejected(self, number: int) -> Collection[int]:
        """The issues of which people said by `/duplicates not` that they are another thing than this one."""
        return self.store.verdicts.rejected(self.id, number) if self.store else ()

    def originals(self) -> Mapping[int, int]:
        """Which issues people closed by `/duplicates of` as duplicates of which."""
        return self.store.verdicts.originals(self.id) if self.store else {}

    def is_muted(self, number: int) -> bool:
        """Whether somebody said that the bot shall leave this issue alone."""
        return self.store is not None and self.store.muted.is_muted(self.id, number)
