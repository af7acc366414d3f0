"""Chooses which sources are asked, and how much each counts (H4)."""

from __future__ import annotations

from collections.abc import Mapping

from bot.conversation.config.schema import SourceConfig
from bot.domain.report import INDEX
from bot.search.sources.github import DISCUSSIONS, HYBRID, LEXICAL, PULL_REQUESTS, SIMILAR
from bot.search.sources.named import KNOWN_ISSUES, SIBLINGS

FULL_TEXT, VECTORS = INDEX

#: Sources that need lexical searches in addition to the plan's.
FURTHER_SEARCHES = (PULL_REQUESTS, SIBLINGS)

SOURCE_NAMES = (*INDEX, LEXICAL, HYBRID, SIMILAR, KNOWN_ISSUES, PULL_REQUESTS, DISCUSSIONS, SIBLINGS)


def enabled_sources(
    named: Mapping[str, SourceConfig], *, indexed: bool, hybrid: bool = True
) -> dict[str, SourceConfig]:
    """The sources to ask, by name: as in the settings `named`, the others by default.

    `indexed` tells whether the repository's own index is complete; else it is not asked. If it is asked, GitHub's
    lexical search is off by default: it reads the same texts and understands less, and all repositories of an
    installation share its 30 requests a minute. `hybrid` is the default for GitHub's semantic search.
    """
    local = indexed and any(name not in named or named[name].enabled for name in INDEX)
    off = {PULL_REQUESTS, DISCUSSIONS, *([LEXICAL] if local else ()), *(() if hybrid else [HYBRID])}
    found = {name: named.get(name, SourceConfig(enabled=name not in off)) for name in SOURCE_NAMES}
    return {name: source for name, source in found.items() if source.enabled and (indexed or name not in INDEX)}


def only_sources(*names: str) -> dict[str, SourceConfig]:
    """Settings that switch on these sources alone."""
    return {name: SourceConfig(enabled=name in names) for name in SOURCE_NAMES}
