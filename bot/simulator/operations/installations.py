"""Installations of Apps, their permissions, and their tokens."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta

from bot.simulator.errors import ApiError
from bot.simulator.operations.accounts import administrator, who
from bot.simulator.state.accounts import Account, Installation, InstallationToken, grants
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Repository
from bot.simulator.state.world import World, locked

# https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app: one hour.
TOKEN_LIFETIME = timedelta(hours=1)


@locked
def install(
    world: World, *targets: str, app_id: int | None = None, permissions: Mapping[str, str] | None = None
) -> Installation:
    """Install the App on all repositories of an account (`"acme"`), or on some repositories (`"acme/app"`, …).

    If the account already has the App, the repositories are added. `app_id` defaults to the App that exists from the
    start, `permissions` to the App's own.
    """
    login = targets[0].split("/")[0]
    account = who(world, login, "Organization")
    app = world.apps[app_id if app_id is not None else min(world.apps)]
    repositories = [world.repository(target) for target in targets if "/" in target]
    everything = "/" not in targets[0]
    sender = administrator(world, account)
    for existing in world.installations.values():
        if existing.app is app and existing.account is account:
            _add_repositories(world, existing, repositories, everything=everything, sender=sender)
            return existing
    now = world.now()
    key = world.ids.next("installation")
    granted = dict(app.permissions if permissions is None else permissions)
    created = Installation(key, node_id("IN", key), app, account, granted, list(app.events), now, now)
    created.all_repositories = everything
    created.repositories = {repo.id for repo in repositories}
    world.installations[key] = created
    world.nodes[created.node_id] = created
    world.emit("installation", "created", sender, installations=[created], repositories=world.repositories_of(created))
    return created


def _add_repositories(
    world: World, installation: Installation, repositories: Iterable[Repository], *, everything: bool, sender: Account
) -> None:
    before = world.repositories_of(installation)
    installation.all_repositories = installation.all_repositories or everything
    installation.repositories |= {repo.id for repo in repositories}
    installation.updated_at = world.now()
    added = [repo for repo in world.repositories_of(installation) if repo not in before]
    if added:
        world.emit("installation_repositories", "added", sender, installations=[installation], added=added, removed=[])


@locked
def remove_from_installation(world: World, *repositories: str) -> None:
    """Remove repositories from their installations, which keep their other repositories, but gain no new ones."""
    for name in repositories:
        repo = world.repository(name)
        for installation in world.installations_on(repo):
            if installation.all_repositories:
                installation.repositories = {entry.id for entry in world.repositories_of(installation)}
                installation.all_repositories = False
            drop(world, installation, repo, administrator(world, repo.owner))


@locked
def drop(world: World, installation: Installation, repository: Repository, sender: Account) -> None:
    """Remove the repository from the installation, and tell the App."""
    installation.repositories.discard(repository.id)
    installation.updated_at = world.now()
    world.emit(
        "installation_repositories", "removed", sender, installations=[installation], added=[], removed=[repository]
    )


def gain(world: World, repository: Repository, sender: Account) -> None:
    """Tell the Apps installed on all of the owner's repositories that the owner has gained `repository`."""
    for installation in world.installations.values():
        if installation.all_repositories and installation.account is repository.owner:
            added = [repository]
            world.emit(
                "installation_repositories", "added", sender, installations=[installation], added=added, removed=[]
            )


@locked
def uninstall(world: World, account: str | Installation) -> None:
    """Remove one installation, or all installations on an account. Their tokens become invalid."""
    for installation in _installations(world, account):
        repositories = world.repositories_of(installation)
        del world.installations[installation.id]
        _end_tokens(world, installation)
        sender = administrator(world, installation.account)
        world.emit("installation", "deleted", sender, installations=[installation], repositories=repositories)


@locked
def suspend(world: World, account: str | Installation, suspended: bool = True) -> None:
    """Suspend one installation, or all installations on an account. `suspended=False` ends the suspension."""
    for installation in _installations(world, account):
        sender = administrator(world, installation.account)
        installation.suspended_at = world.now() if suspended else None
        installation.suspended_by = sender if suspended else None
        world.emit("installation", "suspend" if suspended else "unsuspend", sender, installations=[installation])


@locked
def set_permissions(world: World, account: str | Installation, permissions: Mapping[str, str]) -> None:
    """The account's administrator accepts new permissions. Older tokens lose permissions that are not among these."""
    for installation in _installations(world, account):
        installation.permissions = dict(permissions)
        installation.updated_at = world.now()
        world.emit(
            "installation",
            "new_permissions_accepted",
            administrator(world, installation.account),
            installations=[installation],
        )


@locked
def make_installation_token(
    world: World,
    installation: Installation,
    permissions: Mapping[str, str] | None = None,
    repositories: Iterable[Repository] | None = None,
) -> InstallationToken:
    """A token of the installation, valid for an hour. 422 if `permissions` exceed the installation's."""
    wanted = dict(installation.permissions if permissions is None else permissions)
    if not all(grants(installation.permissions, name, level) for name, level in wanted.items()):
        raise ApiError(422, "The permissions requested are not granted to this installation.")
    if permissions is not None and "metadata" in installation.permissions:
        wanted.setdefault("metadata", "read")
    only = None if repositories is None else frozenset(repo.id for repo in repositories)
    # The format that GitHub has rolled out since April 2026: a long token that contains the App's id and a JWT.
    parts = ".".join(secrets.token_urlsafe(size) for size in (27, 180, 64))
    token = f"ghs_{installation.app.id}_{parts}"
    record = InstallationToken(token, installation, wanted, only, world.now() + TOKEN_LIFETIME)
    world.installation_tokens[record.token] = record
    return record


def _installations(world: World, account: str | Installation) -> list[Installation]:
    """The given installation as a list, or all on the account with this login or repository."""
    if isinstance(account, Installation):
        return [account]
    login = account.split("/")[0].lower()
    matches = [i for i in world.installations.values() if i.account.login.lower() == login]
    if not matches:
        raise KeyError(f"no App is installed on {account}")
    return matches


def _end_tokens(world: World, installation: Installation) -> None:
    world.installation_tokens = {
        key: token for key, token in world.installation_tokens.items() if token.installation is not installation
    }
