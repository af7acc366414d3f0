"""The settings that a repository keeps in `.github/doppel.yml` (C6)."""

from __future__ import annotations

from bot.config.model import IgnoreConfig, RepoConfig, SearchConfig, SourceConfig
from bot.config.parse import parse_config
from bot.config.tree import ConfigError

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
