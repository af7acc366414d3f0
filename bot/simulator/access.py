"""What a caller may see and do in a repository."""

from __future__ import annotations

from collections.abc import Sequence

from bot.simulator.callers import Caller, InstallationCaller, UserCaller
from bot.simulator.state.accounts import grants
from bot.simulator.state.issues import Issue
from bot.simulator.state.repositories import Repository, Role
from bot.simulator.state.world import World


def can_see(world: World, caller: Caller, repository: Repository) -> bool:
    """Whether the caller may know that the repository exists."""
    if not repository.private:
        return True
    if isinstance(caller, InstallationCaller):
        return caller.reaches(world, repository)
    if not isinstance(caller, UserCaller) or world.role(repository, caller.user) == "none":
        return False
    # An App that acts for a person may do only what both the App and the person may do.
    return caller.app is None or world.installation_for(caller.app, repository) is not None


def app_may(
    world: World, caller: Caller, repository: Repository, needs: Sequence[tuple[str, str]], *, writes: bool
) -> bool:
    """Whether the caller's App has one of the permissions in `needs`, which are pairs of permission and level.

    Only installations, and people who call through an App, are checked; for all other callers, the answer is yes. With
    empty `needs`, no permission is needed. An App that is not installed in the repository may only read public data.
    """
    if isinstance(caller, InstallationCaller):
        if not caller.reaches(world, repository):
            return not writes
        return not needs or any(caller.may(*need) for need in needs)
    if isinstance(caller, UserCaller) and caller.app is not None:
        installation = world.installation_for(caller.app, repository)
        if installation is None:
            return not writes
        return not needs or any(grants(installation.permissions, *need) for need in needs)
    return True


def visible_issue(world: World, caller: Caller, issue: Issue) -> Issue | None:
    """The issue, or its copy after a transfer. None if the issue was deleted, or the caller must not see it."""
    current = world.present(issue)
    return current if current is not None and can_see(world, caller, current.repository) else None


def role_of(world: World, caller: Caller, repository: Repository) -> Role:
    """A user's role in the repository. Other callers have "read" if they can see the repository, else "none"."""
    if isinstance(caller, UserCaller):
        return world.role(repository, caller.user)
    return "read" if can_see(world, caller, repository) else "none"


def may_read(world: World, caller: Caller, repository: Repository, *permissions: str) -> bool:
    """Whether a caller who sees the repository may read data in it.

    An installation needs one of `permissions` in the repositories that it covers. Elsewhere it reads like anybody else.
    """
    if isinstance(caller, InstallationCaller) and caller.reaches(world, repository):
        return any(caller.may(permission, "read") for permission in permissions)
    return True
