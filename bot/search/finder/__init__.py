"""The heart of everything (F1–F9). Webhook, command, CLI and replay enter at `Finder.find`, with an issue that they
have read; `find_duplicates`, which reads it first, is for programs that use Doppel as a library.
"""

from __future__ import annotations

from bot.search.finder.finder import Finder
from bot.search.finder.options import FindOptions, bot_options, finder_settings, further_sources, named_unasked
from bot.search.finder.unindexed import TemporaryIndexes
from bot.search.sources.federated import MOST_COMPARED, FinderSettings

__all__ = ["MOST_COMPARED", "FindOptions", "Finder", "FinderSettings", "TemporaryIndexes"]
__all__ += ["bot_options", "finder_settings", "further_sources", "named_unasked"]
