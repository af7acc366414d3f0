"""`.github/doppel.yml` → `RepoConfig` and what is wrong with the file."""

from __future__ import annotations

from functools import lru_cache

from bot.config.keys import ROOT
from bot.config.model import ConfigError, RepoConfig
from bot.config.tree import read_tree

PROBLEMS_MAX = 100
"""More problems than this are not listed: nobody reads them, and a hostile file can have thousands."""


def parse_config(text: str) -> tuple[RepoConfig, tuple[ConfigError, ...]]:
    """Read a settings file: what is valid counts, what is wrong keeps its default and is listed by position.

    Never raises, whatever the text; costs at most two or three seconds for the largest file that is read (64 KiB) at
    its worst, once for all events of a repository while it stays the same.
    """
    return _parsed(text)


@lru_cache(maxsize=128)
def _parsed(text: str) -> tuple[RepoConfig, tuple[ConfigError, ...]]:
    tree, problems = read_tree(text)
    config: RepoConfig = ROOT.read(tree, problems)
    problems.sort(key=lambda problem: (problem.line, problem.column))
    return config, tuple(problems[:PROBLEMS_MAX])
