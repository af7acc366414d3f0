"""Where a repository's settings come from: its own file, else its owner's, else the defaults (C6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.config import CONFIG_PATH, ConfigError, RepoConfig, parse_config
from bot.errors import Forbidden, Invalid, NotFound
from bot.github.repository.repo import RepoClient
from bot.model import RepoRef, Repository, same_login
from bot.store import Store

KEPT = 300.0
"""Seconds for which a file is remembered. A push to it ends that at once; this bounds what a lost push can do."""

OWNERS_REPOSITORY = ".github"
"""Its files hold for all repositories of its owner: GitHub docs, "Creating a default community health file"."""

_OWN = CONFIG_PATH
_OWNERS = f"owner:{CONFIG_PATH}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, what is wrong with their file, and where that file lies (empty: the defaults hold).

    `private` says that not everybody who reads the repository may read the file: it is in the owner's repository, which
    is private. What is wrong with it quotes it, and must then not be shown.
    """

    config: RepoConfig
    problems: tuple[ConfigError, ...] = ()
    source: str = ""
    private: bool = False


class RepositorySettings:
    """Reads settings files and keeps their text in the store for some minutes, for all workers. Thread safe."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def read(self, client: Callable[[int], RepoClient], repository: Repository) -> Loaded:
        """The settings of one repository. A broken file never raises: what is valid in it counts.

        `client` gives, for a repository's id, a client that can read that one (and public ones).
        """
        place = RepoRef(repository.ref.owner, OWNERS_REPOSITORY)
        # Where the App is not installed on the owner's repository, it can only be read if it is public.
        owners = self._store.repositories.by_name(place)
        hidden = owners is not None and owners.private
        here, there = client(repository.id), client(owners.id if owners else repository.id)
        return _first(
            (repository.ref, False, lambda: self._text(here, repository.id, _OWN, repository.ref)),
            (place, hidden, lambda: self._text(there, repository.id, _OWNERS, place)),
        )

    def last_read(self, repo_id: int) -> RepoConfig:
        """The settings as they were last read, however long ago; the defaults where none are remembered."""
        return last_read(self._store, repo_id)

    def last_or_present(self, client: Callable[[int], RepoClient], repository: Repository) -> RepoConfig:
        """The settings as they were last read, for what is not worth a request each time; read now where a push has
        changed the file since, so that nothing is remembered.
        """
        return _last(self._store, repository.id) or self.read(client, repository).config

    def forget(self, repository: Repository) -> None:
        """A push has changed the file. Where it is the owner's, it is forgotten for every repository of theirs."""
        self._store.texts.drop(repository.id)
        if repository.ref.name == OWNERS_REPOSITORY:
            for other in self._store.repositories.list():
                if same_login(other.ref.owner, repository.ref.owner):
                    self._store.texts.drop(other.id)

    def _text(self, github: RepoClient, repo_id: int, name: str, place: RepoRef) -> str | None:
        now = self._clock().timestamp()
        known = self._store.texts.get(repo_id, name)
        if known is not None and known.is_fresh(now, KEPT):
            return known.text
        # A refusal ends this: it says nothing of the file, and whoever takes it back has the file read at once.
        text = _file(github, place)
        self._store.texts.put(repo_id, name, text, now)
        return text


def last_read(store: Store, repo_id: int) -> RepoConfig:
    """The settings as they were last read, however long ago; the defaults where none are remembered."""
    return _last(store, repo_id) or RepoConfig()


def _last(store: Store, repo_id: int) -> RepoConfig | None:
    """The settings as they were last read; None where it is not known what one of the files says that may hold."""
    for name in (_OWN, _OWNERS):
        known = store.texts.get(repo_id, name)
        if known is None:
            return None
        if known.text is not None:
            return parse_config(known.text)[0]
    return RepoConfig()


def settings_at_present(github: RepoClient, repo: RepoRef) -> Loaded:
    """The settings as they stand on GitHub, for who keeps nothing: command line and agents."""
    owners = RepoRef(repo.owner, OWNERS_REPOSITORY)
    # Whether the owner's repository is private is not asked; what is wrong with its file is then not shown.
    return _first((repo, False, lambda: _file(github, repo)), (owners, True, lambda: _file(github, owners)))


def _first(*places: tuple[RepoRef, bool, Callable[[], str | None]]) -> Loaded:
    """The settings by the first of these files that is there; each with its repository, and whether that is private."""
    for where, private, read in places:
        source = f"{where}/{CONFIG_PATH}"
        try:
            text = read()
        except Invalid:
            too_large = ConfigError.saying(1, 1, lambda say, _: say.file_too_large())
            return Loaded(RepoConfig(), (too_large,), source, private)
        except Forbidden:
            # Access rests, or does not reach the files; nor need the App be installed on the owner's repository.
            continue
        if text is not None:
            config, problems = parse_config(text)
            return Loaded(config, problems, source, private)
    return Loaded(RepoConfig())


def _file(github: RepoClient, place: RepoRef) -> str | None:
    """The text, None where there is no file. Raises Invalid where it is too large, and Forbidden."""
    try:
        text = github.file(place, CONFIG_PATH)
        # From a name that a repository had once GitHub leads on to what that is now: it may be another owner's.
        if text is not None and place.name == OWNERS_REPOSITORY and github.repository(place).ref.key != place.key:
            return None
        return text
    except NotFound:
        # The owner's repository need not exist, and a private one does not for the App that is not installed on it.
        return None
