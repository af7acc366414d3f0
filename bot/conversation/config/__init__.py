"""The settings that a repository keeps in `.github/doppel.yml` (C6)."""

from __future__ import annotations

from bot.conversation.config.parse import parse_config
from bot.conversation.config.schema import IgnoreConfig, RepoConfig, SearchConfig, SourceConfig
from bot.conversation.config.tree import ConfigError

CONFIG_PATH = ".github/doppel.yml"
"""Where the file lies, in the repository itself or in its owner's `.github` repository."""

__all__ = [
    "CONFIG_PATH",
    "ConfigError",
    "IgnoreConfig",
    "RepoConfig",
    "SearchConfig",
    "SourceConfig",
    "parse_config",
]
