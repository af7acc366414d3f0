"""Where a repository's settings come from: its own file, else its owner's, else the defaults (C6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.config import CONFIG_PATH, ConfigError, RepoConfig, parse_config
from bot.errors import Forbidden, Invalid, NotFound
from bot.events import RepositorySummary
from bot.model import RepoRef
from bot.store import Store

KEPT = 300.0
"""Seconds for which a file is remembered. A push to it ends that at once; this bounds what a lost push can do."""

OWNERS_REPOSITORY = ".github"
"""Its files hold for all repositories of its owner: GitHub docs, "Creating a default community health file"."""

_OWN = CONFIG_PATH
_OWNERS = f"owner:{CONFIG_PATH}"
_TOO_LARGE = "this file is too large to be read; the defaults hold"


class FileReader(Protocol):
    """The one read of GitHub that is needed here."""

    def file(self, repo: RepoRef, path: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, what is wrong with their file, and where that file lies (empty: the defaults hold)."""

    config: RepoConfig
    problems: tuple[ConfigError, ...] = ()
    source: str = ""


class RepositorySettings:
    """Reads settings files and keeps their text in the store for some minutes, for all workers. Thread safe."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def read(self, github: FileReader, repository: RepositorySummary) -> Loaded:
        """The settings of one repository. A broken file never raises: what is valid in it counts."""
        owners = RepoRef(repository.ref.owner, OWNERS_REPOSITORY)
        for name, place in ((_OWN, repository.ref), (_OWNERS, owners)):
            try:
                text = self._text(github, repository.id, name, place)
            except Invalid:
                problem = ConfigError(1, 1, _TOO_LARGE)
                return Loaded(RepoConfig(), (problem,), f"{place}/{CONFIG_PATH}")
            if text is not None:
                config, problems = parse_config(text)
                return Loaded(config, problems, f"{place}/{CONFIG_PATH}")
        return Loaded(RepoConfig())

    def forget(self, repository: RepositorySummary) -> None:
        """A push has changed the file. Where it is the owner's, it is forgotten for every repository of theirs."""
        self._store.texts.drop(repository.id)
        if repository.ref.name == OWNERS_REPOSITORY:
            for other in self._store.repositories.list():
                if other.ref.owner.lower() == repository.ref.owner.lower():
                    self._store.texts.drop(other.id)

    def _text(self, github: FileReader, repo_id: int, name: str, place: RepoRef) -> str | None:
        now = self._clock().timestamp()
        known = self._store.texts.get(repo_id, name)
        if known is not None and now - known.fetched_at < KEPT:
            return known.text
        try:
            text = github.file(place, CONFIG_PATH)
        except (NotFound, Forbidden):
            # The App need not be installed on the owner's repository, nor need that exist.
            text = None
        self._store.texts.put(repo_id, name, text, now)
        return text
