"""Where a repository's settings come from: its own file, else its owner's, else the defaults (C6)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.config import CONFIG_PATH, ConfigError, RepoConfig, parse_config
from bot.errors import Forbidden, NotFound
from bot.model import RepoRef

# A push to the file makes the worker that handles it forget at once; the others see the change after this time.
KEPT = timedelta(minutes=2)

# The repository whose files hold for all of its owner's, as on GitHub: "Creating a default community health file".
OWNERS_REPOSITORY = ".github"


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
    """Reads settings and remembers them for some minutes, so that a burst of events costs two reads. Thread safe."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[RepoRef, tuple[datetime, Loaded]] = {}

    def read(self, github: FileReader, repo: RepoRef) -> Loaded:
        """The settings of one repository. A broken file never raises: what is valid in it counts."""
        now = self._clock()
        with self._lock:
            known = self._known.get(repo)
        if known is not None and now - known[0] < KEPT:
            return known[1]
        loaded = _load(github, repo)
        with self._lock:
            self._known = {ref: entry for ref, entry in self._known.items() if now - entry[0] < KEPT}
            self._known[repo] = (now, loaded)
        return loaded

    def forget(self, repo: RepoRef) -> None:
        """The file has changed. Where it is the owner's, every repository of that owner is forgotten."""
        with self._lock:
            if repo.name == OWNERS_REPOSITORY:
                self._known = {ref: entry for ref, entry in self._known.items() if ref.owner != repo.owner}
            else:
                self._known.pop(repo, None)


def _load(github: FileReader, repo: RepoRef) -> Loaded:
    for place in (repo, RepoRef(repo.owner, OWNERS_REPOSITORY)):
        try:
            text = github.file(place, CONFIG_PATH)
        except (NotFound, Forbidden):
            # The App need not be installed on the owner's repository, nor need that exist.
            text = None
        if text is not None:
            config, problems = parse_config(text)
            return Loaded(config, problems, f"{place}/{CONFIG_PATH}")
    return Loaded(RepoConfig())
