"""Reads a repository's settings: from its own file, or else from its owner's file, or else the defaults (C6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.conversation.config.parser import parse_config
from bot.conversation.config.schema import CONFIG_PATH, RepoConfig
from bot.conversation.config.yaml_tree import ConfigError
from bot.domain.entities import RepoRef, Repository, same_login
from bot.domain.errors import Forbidden, Invalid, NotFound
from bot.github.repository import RepoClient
from bot.storage import Store

KEPT = 300.0
"""Seconds for which a file is cached. A push to the file clears the cache at once, unless its delivery gets lost."""

OWNERS_REPOSITORY = ".github"
"""Files in this repository apply to all repositories of its owner (GitHub docs, "Creating a default community health
file")."""

# The store's names for the cached files: the repository's own, and its owner's.
_OWN = CONFIG_PATH
_OWNERS = f"owner:{CONFIG_PATH}"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force, and the problems of the file at `source` (empty: the defaults apply).

    `private` means that the file is in the owner's private repository. Then nobody may see the problems, because they
    quote the file.
    """

    config: RepoConfig
    problems: tuple[ConfigError, ...] = ()
    source: str = ""
    private: bool = False


HostMode = Literal["comment", "shadow"]
"""The mode that the host sets for repositories whose settings name none."""


class RepositorySettings:
    """Reads settings files, and caches them in the store for some minutes. Thread safe."""

    def __init__(self, store: Store, clock: Callable[[], datetime], mode: HostMode = "comment") -> None:
        self._store = store
        self._clock = clock
        self._mode = mode

    def read(self, client: Callable[[int], RepoClient], repository: Repository) -> LoadedSettings:
        """The settings in force for a repository. `client` takes a repository's id, and returns its GitHub client."""
        owners_ref = RepoRef(repository.ref.owner, OWNERS_REPOSITORY)
        owners_repo = self._store.repositories.by_name(owners_ref)
        private = owners_repo is not None and owners_repo.private
        # If the App is not installed on the owner's repository, this repository's client can still read a public file.
        own_client, owners_client = client(repository.id), client(owners_repo.id if owners_repo else repository.id)
        # A repository's own file never counts as private: whoever sees the problems may read the file.
        return _first_found(
            self._mode,
            (repository.ref, False, lambda: self._text(own_client, repository.id, _OWN, repository.ref)),
            (owners_ref, private, lambda: self._text(owners_client, repository.id, _OWNERS, owners_ref)),
        )

    def last_read(self, repo_id: int) -> RepoConfig:
        """The settings as last read, however long ago, or the defaults."""
        return _in_mode(last_read(self._store, repo_id), self._mode)

    def last_or_present(self, client: Callable[[int], RepoClient], repository: Repository) -> RepoConfig:
        """The settings as last read. If the cache lacks them, as after a push, they are read from GitHub."""
        last = _last(self._store, repository.id)
        return _in_mode(last, self._mode) if last else self.read(client, repository).config

    def forget(self, repository: Repository) -> None:
        """Clear the cache, as after a push. An owner's file applies to all repositories of that owner."""
        self._store.cached_files.drop(repository.id)
        if repository.ref.name == OWNERS_REPOSITORY:
            for other in self._store.repositories.list():
                if same_login(other.ref.owner, repository.ref.owner):
                    self._store.cached_files.drop(other.id)

    def _text(self, github: RepoClient, repo_id: int, name: str, repo: RepoRef) -> str | None:
        now = self._clock().timestamp()
        known = self._store.cached_files.get(repo_id, name)
        if known is not None and known.is_fresh(now, KEPT):
            return known.text
        # If this raises Forbidden, nothing is cached: Forbidden does not say whether the file exists.
        text = _read_file(github, repo)
        self._store.cached_files.put(repo_id, name, text, now)
        return text


def last_read(store: Store, repo_id: int) -> RepoConfig:
    """The settings in the files when last read, however long ago, or the defaults. Ignores the host's mode."""
    return _last(store, repo_id) or RepoConfig()


def _last(store: Store, repo_id: int) -> RepoConfig | None:
    """The settings as last read. None if the own file is not cached, or is absent and the owner's is not cached."""
    for name in (_OWN, _OWNERS):
        known = store.cached_files.get(repo_id, name)
        if known is None:
            return None
        if known.text is not None:
            return parse_config(known.text)[0]
    return RepoConfig()


def settings_at_present(github: RepoClient, repo: RepoRef, mode: HostMode = "comment") -> LoadedSettings:
    """The settings on GitHub now, for the command line and agents, which have no cache."""
    shared = RepoRef(repo.owner, OWNERS_REPOSITORY)
    # Treat the owner's repository as private instead of asking GitHub.
    return _first_found(
        mode, (repo, False, lambda: _read_file(github, repo)), (shared, True, lambda: _read_file(github, shared))
    )


def _in_mode(config: RepoConfig, mode: HostMode) -> RepoConfig:
    return config if "mode" in config.model_fields_set else config.model_copy(update={"mode": mode})


def _first_found(mode: HostMode, *files: tuple[RepoRef, bool, Callable[[], str | None]]) -> LoadedSettings:
    """The settings of the first file that exists.

    For each file: its repository, whether it counts as private (see `LoadedSettings`), and a function that reads it.
    """
    for repo, private, read in files:
        source = f"{repo}/{CONFIG_PATH}"
        try:
            text = read()
        except Invalid:
            too_large = ConfigError.translatable(1, 1, lambda say, _: say.file_too_large())
            return LoadedSettings(_in_mode(RepoConfig(), mode), (too_large,), source, private)
        except Forbidden:
            # Access is suspended or does not cover files, or the App is not installed on the owner's repository.
            continue
        if text is not None:
            config, problems = parse_config(text)
            return LoadedSettings(_in_mode(config, mode), problems, source, private)
    return LoadedSettings(_in_mode(RepoConfig(), mode))


def _read_file(github: RepoClient, repo: RepoRef) -> str | None:
    """The text of the settings file; None without a file. Raises Forbidden, and Invalid if the file is too large."""
    try:
        text = github.file(repo, CONFIG_PATH)
        # GitHub redirects a repository's former name, so the text may come from another owner's repository.
        if text is not None and repo.name == OWNERS_REPOSITORY and github.repository(repo).ref.key != repo.key:
            return None
        return text
    except NotFound:
        # The owner may have no such repository. A private repository is also "not found" if the App is not installed.
        return None
