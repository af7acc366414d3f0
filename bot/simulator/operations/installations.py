"""Accounts, tokens, Apps and where they are installed."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta

from bot.simulator.errors import ApiError
from bot.simulator.operations.apps import AppOperations
from bot.simulator.operations.base import locked
from bot.simulator.state.accounts import Account, Installation, InstallationToken
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Repository

# https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app: one hour.
TOKEN_LIFETIME = timedelta(hours=1)
_LEVELS = ("read", "write", "admin")


def grants(held: Mapping[str, str], permission: str, level: str) -> bool:
    """Whether the permissions held include one at that level or above."""
    have = held.get(permission)
    return have is not None and _LEVELS.index(have) >= _LEVELS.index(level)


class InstallationOperations(AppOperations):
    """Users with their tokens, and installations of Apps."""

    @locked
    def add_user(self, login: str, *, name: str | None = None) -> Account:
        """The user of that login, made if there was none."""
        account = self.who(login)
        account.name = name or account.name
        return account

    @locked
    def add_organization(self, login: str) -> Account:
        """The organization of that login, made if there was none."""
        return self.who(login, "Organization")

    @locked
    def user_token(self, login: str | Account, prefix: str = "ghp_") -> str:
        """A new personal access token with which a client acts as this user; `github_pat_` makes a fine-grained one."""
        token = prefix + secrets.token_hex(18)
        self.user_tokens[token] = self.who(login)
        return token

    @locked
    def install(
        self, *targets: str, app_id: int | None = None, permissions: Mapping[str, str] | None = None
    ) -> Installation:
        """Install the App on an account (`"acme"`: all its repositories) or on repositories of one (`"acme/app"`, …).

        On an account that has the App already, the repositories are added. `permissions` default to the App's own.
        """
        login = targets[0].split("/")[0]
        account = self.who(login, "Organization")
        app = self.apps[app_id if app_id is not None else min(self.apps)]
        repositories = [self.repository(target) for target in targets if "/" in target]
        sender = self.administrator(account)
        for found in self.installations.values():
            if found.app is app and found.account is account:
                self._select(found, repositories, everything="/" not in targets[0], sender=sender)
                return found
        now = self.now()
        key = self.ids.next("installation")
        granted = dict(app.permissions if permissions is None else permissions)
        made = Installation(key, node_id("IN", key), app, account, granted, list(app.events), now, now)
        made.all_repositories = "/" not in targets[0]
        made.repositories = {repo.id for repo in repositories}
        self.installations[key] = made
        self.nodes[made.node_id] = made
        self.emit("installation", "created", sender, installations=[made], repositories=self.repositories_of(made))
        return made

    def _select(
        self, installation: Installation, repositories: Iterable[Repository], *, everything: bool, sender: Account
    ) -> None:
        before = self.repositories_of(installation)
        installation.all_repositories = installation.all_repositories or everything
        installation.repositories |= {repo.id for repo in repositories}
        installation.updated_at = self.now()
        added = [repo for repo in self.repositories_of(installation) if repo not in before]
        if added:
            self.emit(
                "installation_repositories", "added", sender, installations=[installation], added=added, removed=[]
            )

    @locked
    def remove_from_installation(self, *repositories: str) -> None:
        """Take repositories out of the installations that have them selected."""
        for name in repositories:
            repo = self.repository(name)
            for installation in [i for i in self.installations.values() if self.covers(i, repo)]:
                if installation.all_repositories:
                    installation.repositories = {entry.id for entry in self.repositories_of(installation)}
                    installation.all_repositories = False
                self.drop(installation, repo, self.administrator(repo.owner))

    def drop(self, installation: Installation, repository: Repository, sender: Account) -> None:
        """The installation no longer reaches the repository, and its App is told."""
        installation.repositories.discard(repository.id)
        installation.updated_at = self.now()
        self.emit(
            "installation_repositories", "removed", sender, installations=[installation], added=[], removed=[repository]
        )

    def gain(self, repository: Repository, sender: Account) -> None:
        """Installations that reach all repositories of its owner reach this new one, and their Apps are told."""
        for found in self.installations.values():
            if found.all_repositories and found.account is repository.owner:
                added = [repository]
                self.emit("installation_repositories", "added", sender, installations=[found], added=added, removed=[])

    @locked
    def uninstall(self, account: str | Installation) -> None:
        """Remove the App from an account; its tokens end."""
        for found in self._installations(account):
            repositories = self.repositories_of(found)
            del self.installations[found.id]
            self._end_tokens(found)
            sender = self.administrator(found.account)
            self.emit("installation", "deleted", sender, installations=[found], repositories=repositories)

    @locked
    def suspend(self, account: str | Installation, suspended: bool = True) -> None:
        """Suspend the installation on an account, or with `suspended=False` end that."""
        for found in self._installations(account):
            sender = self.administrator(found.account)
            found.suspended_at = self.now() if suspended else None
            found.suspended_by = sender if suspended else None
            self.emit("installation", "suspend" if suspended else "unsuspend", sender, installations=[found])

    @locked
    def set_permissions(self, account: str | Installation, permissions: Mapping[str, str]) -> None:
        """The account's administrator accepts other permissions; a token made before holds what both agree on."""
        for found in self._installations(account):
            found.permissions = dict(permissions)
            found.updated_at = self.now()
            self.emit(
                "installation", "new_permissions_accepted", self.administrator(found.account), installations=[found]
            )

    @locked
    def make_installation_token(
        self,
        installation: Installation,
        permissions: Mapping[str, str] | None = None,
        repositories: Iterable[Repository] | None = None,
    ) -> InstallationToken:
        """A token of the installation, valid for an hour; narrower than it where asked, never wider (422)."""
        wanted = dict(installation.permissions if permissions is None else permissions)
        if not all(grants(installation.permissions, name, level) for name, level in wanted.items()):
            raise ApiError(422, "The permissions requested are not granted to this installation.")
        if permissions is not None and "metadata" in installation.permissions:
            wanted.setdefault("metadata", "read")
        only = None if repositories is None else frozenset(repo.id for repo in repositories)
        # The format that GitHub rolls out since April 2026: long, and with the App's id and a JWT in it.
        parts = ".".join(secrets.token_urlsafe(size) for size in (27, 180, 64))
        token = f"ghs_{installation.app.id}_{parts}"
        record = InstallationToken(token, installation, wanted, only, self.now() + TOKEN_LIFETIME)
        self.installation_tokens[record.token] = record
        return record

    def _installations(self, account: str | Installation) -> list[Installation]:
        if isinstance(account, Installation):
            return [account]
        login = account.split("/")[0].lower()
        found = [i for i in self.installations.values() if i.account.login.lower() == login]
        if not found:
            raise KeyError(f"no App is installed on {account}")
        return found

    def _end_tokens(self, installation: Installation) -> None:
        self.installation_tokens = {
            key: token for key, token in self.installation_tokens.items() if token.installation is not installation
        }
