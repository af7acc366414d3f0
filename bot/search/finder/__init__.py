"""The core of Doppel (F1–F9). Webhooks, commands, CLI and replay read an issue and pass it to `Finder.find`.

Programs that use Doppel as a library call `Finder.find_duplicates`, which reads the issue itself.
"""

from __future__ import annotations

from bot.search.finder.finder import Finder
from bot.search.finder.options import FindOptions, bot_options, finder_settings, further_sources, named_unasked
from bot.search.finder.unindexed import TemporaryIndexes
from bot.search.sources.federated import MOST_COMPARED, FinderSettings

__all__ = ["MOST_COMPARED", "FindOptions", "Finder", "FinderSettings", "TemporaryIndexes"]
__all__ += ["bot_options", "finder_settings", "further_sources", "named_unasked"]
