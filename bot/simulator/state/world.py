"""The simulator's whole state, and the look-ups in it. `bot.simulator.operations` changes the state.

One lock guards everything: every thread that reads or writes must hold `world.lock`. Operations decorated with
`locked` take the lock themselves.
"""

from __future__ import annotations

import functools
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from bot.simulator.clock import Clock
from bot.simulator.state.accounts import Account, App, Installation, InstallationToken, ManifestCode, SignInCode
from bot.simulator.state.discussions import Discussion
from bot.simulator.state.events import Event
from bot.simulator.state.ids import Ids
from bot.simulator.state.issues import Comment, Issue, Tombstone
from bot.simulator.state.repositories import Label, Project, ProjectItem, Repository, Role

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(slots=True)
class Urls:
    """The root addresses of this GitHub's API and of its pages, without a slash at the end."""

    api: str = "https://api.github.com"
    html: str = "https://github.com"


class World:
    """All records, each by its key. Logins and repository names ignore case, as on GitHub."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.lock = threading.RLock()
        self.urls = Urls()
        self.ids = Ids()
        self.accounts: dict[str, Account] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.installation_tokens: dict[str, InstallationToken] = {}
        # `user_tokens` are personal access tokens. Signing in to an App makes a user access token.
        self.user_tokens: dict[str, Account] = {}
        self.user_access_tokens: dict[str, tuple[Account, App]] = {}
        self.manifest_codes: dict[str, ManifestCode] = {}
        self.sign_in_codes: dict[str, SignInCode] = {}
        self.repositories: dict[int, Repository] = {}
        # Full name in lower case, present or former → repository's id.
        self.names: dict[str, int] = {}
        # Repository's id → issue's number → issue.
        self.issues: defaultdict[int, dict[int, Issue | Tombstone]] = defaultdict(dict)
        self.issues_by_id: dict[int, Issue] = {}
        self.comments_by_id: dict[int, Comment] = {}
        self.discussions: dict[int, Discussion] = {}
        self.projects: dict[int, Project] = {}
        # Issue's id → its entries on projects.
        self.items: defaultdict[int, list[ProjectItem]] = defaultdict(list)
        self.nodes: dict[str, object] = {}
        # Ids of issues whose entries in the search index are out of date.
        self.unindexed: set[int] = set()
        # Called with every event, under the lock.
        self.listener: Callable[[Event], None] = lambda event: None

    def now(self) -> datetime:
        """The present moment in whole seconds, as GitHub stores times."""
        return self.clock.now().replace(microsecond=0)

    def account(self, login: str) -> Account | None:
        return self.accounts.get(login.lower())

    def repository(self, full_name: str) -> Repository:
        """The repository that has, or once had, this name; KeyError without one."""
        record = self.named(full_name)
        if record is None:
            raise KeyError(f"the simulated GitHub has no repository {full_name}")
        return record

    def named(self, full_name: str) -> Repository | None:
        """The repository that has, or once had, this name, or None."""
        return self.repositories.get(self.names.get(full_name.lower(), 0))

    def repo(self, repository: str | Repository) -> Repository:
        """The repository, given as a record or by its present or former name."""
        return repository if isinstance(repository, Repository) else self.repository(repository)

    def issue(self, repository: str | Repository, number: int) -> Issue:
        """An issue that exists; KeyError if it never did, was deleted, or was transferred."""
        repo = self.repo(repository)
        record = self.issues[repo.id].get(number)
        if not isinstance(record, Issue):
            raise KeyError(f"{repo.full_name} has no issue {number}")
        return record

    def comments(self, repository: str | Repository, number: int) -> list[Comment]:
        """The comments of an issue, oldest first."""
        with self.lock:
            return list(self.issue(repository, number).comments)

    def present(self, issue: Issue) -> Issue | None:
        """The issue itself, its copy after a transfer, or None if deleted. `issues_by_id` has only present issues."""
        while self.issues_by_id.get(issue.id) is not issue:
            record = self.issues.get(issue.repository.id, {}).get(issue.number)
            if not isinstance(record, Tombstone) or record.moved_to is None:
                return None
            issue = record.moved_to
        return issue

    def issues_of(self, repository: Repository) -> Iterator[Issue]:
        """The repository's issues and pull requests that exist, in the order of their numbers."""
        return (entry for entry in self.issues[repository.id].values() if isinstance(entry, Issue))

    def home_of(self, label: Label) -> Repository:
        return next(repo for repo in self.repositories.values() if repo.labels.get(label.name.lower()) is label)

    def app_of(self, account: Account) -> App | None:
        """The App of a bot account; None for people."""
        return self.apps.get(account.app_id) if account.app_id is not None else None

    def repositories_of(self, installation: Installation) -> list[Repository]:
        """The repositories that an installation reaches."""
        return [repo for repo in self.repositories.values() if self.covers(installation, repo)]

    @staticmethod
    def covers(installation: Installation, repository: Repository) -> bool:
        """Whether the installation reaches the repository."""
        if repository.owner is not installation.account:
            return False
        return installation.all_repositories or repository.id in installation.repositories

    def installations_on(self, repository: Repository) -> list[Installation]:
        """The installations that reach the repository."""
        return [one for one in self.installations.values() if self.covers(one, repository)]

    def installation_for(self, app: App, repository: Repository) -> Installation | None:
        """The App's installation that covers the repository, or None."""
        return next((one for one in self.installations_on(repository) if one.app is app), None)

    @staticmethod
    def role(repository: Repository, account: Account | None) -> Role:
        """An account's role in a repository; everybody can read public repositories."""
        if account is repository.owner:
            return "admin"
        granted = repository.roles.get(account.id, "none") if account else "none"
        return "read" if granted == "none" and not repository.private else granted

    def emit(
        self,
        name: str,
        action: str | None,
        sender: Account,
        *,
        repository: Repository | None = None,
        installations: Sequence[Installation] = (),
        **parts: Any,
    ) -> None:
        """Give the listener an event of the repository or of the installations."""
        self.listener(Event(name, action, sender, repository, installations, parts))


def locked(operation: Callable[Concatenate[World, P], R]) -> Callable[Concatenate[World, P], R]:
    """Make an operation hold the world's lock during each call."""

    @functools.wraps(operation)
    def call(world: World, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with world.lock:
            return operation(world, *args, **kwargs)

    return call
