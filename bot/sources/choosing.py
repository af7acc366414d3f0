"""Which sources are asked, and how much each counts (H4)."""

from __future__ import annotations

from collections.abc import Mapping

from bot.config.model import SourceConfig
from bot.report import INDEX
from bot.sources.github import DISCUSSIONS, HYBRID, LEXICAL, PULL_REQUESTS, SIMILAR
from bot.sources.named import KNOWN_ISSUES, SIBLINGS

FULL_TEXT, VECTORS = INDEX

#: Sources that cost searches by words besides the plan's own.
FURTHER_SEARCHES = (PULL_REQUESTS, SIBLINGS)

NAMES = (
    FULL_TEXT,
    VECTORS,
    LEXICAL,
    HYBRID,
    SIMILAR,
    KNOWN_ISSUES,
    PULL_REQUESTS,
    DISCUSSIONS,
    SIBLINGS,
)


def chosen(named: Mapping[str, SourceConfig], *, indexed: bool, hybrid: bool = True) -> dict[str, SourceConfig]:
    """The sources to ask by name: those that are `named` as they are named, the others as is usual.

    `indexed` is whether the repository's own index may be trusted; without it there is nothing local to ask. Where that
    is asked, GitHub's search by words is left alone unless it is named: it reads the same texts with less sense, and
    all repositories of an installation share 30 of its requests a minute. `hybrid` is whether GitHub's semantic search
    is on where it is not named.
    """
    local = indexed and any(name not in named or named[name].enabled for name in (FULL_TEXT, VECTORS))
    usual = {
        FULL_TEXT: indexed,
        VECTORS: indexed,
        LEXICAL: not local,
        HYBRID: hybrid,
        SIMILAR: True,
        KNOWN_ISSUES: True,
        PULL_REQUESTS: False,
        DISCUSSIONS: False,
        SIBLINGS: True,
    }
    found = {name: named.get(name, SourceConfig(enabled=usual[name])) for name in NAMES}
    return {
        name: source
        for name, source in found.items()
        if source.enabled and (indexed or name not in (FULL_TEXT, VECTORS))
    }


def only(*names: str) -> dict[str, SourceConfig]:
    """Settings that ask these sources and no others."""
    return {name: SourceConfig(enabled=name in names) for name in NAMES}
