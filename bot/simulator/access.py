"""What a caller may see and do in a repository."""

from __future__ import annotations

from collections.abc import Sequence

from bot.simulator.callers import Caller, InstallationCaller, UserCaller
from bot.simulator.state.accounts import grants
from bot.simulator.state.issues import Issue
from bot.simulator.state.repositories import Repository, Role
from bot.simulator.state.world import World


def can_see(world: World, caller: Caller, repository: Repository) -> bool:
    """Whether the repository exists, as far as this caller is told."""
    if not repository.private:
        return True
    if isinstance(caller, InstallationCaller):
        return caller.reaches(world, repository)
    if not isinstance(caller, UserCaller) or world.role(repository, caller.user) == "none":
        return False
    # What an App does for a person is what both may do.
    return caller.app is None or world.installation_for(caller.app, repository) is not None


def app_may(
    world: World, caller: Caller, repository: Repository, needs: Sequence[tuple[str, str]], *, writes: bool
) -> bool:
    """Whether the App that calls, or through which a person does, has one of the permissions that are needed here.

    Where it is not installed it reads what is public, and writes nothing.
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


def in_sight(world: World, caller: Caller, issue: Issue) -> Issue | None:
    """An issue that another one points to, where it is today; None if it is no more, or the caller must not know."""
    found = world.present(issue)
    return found if found is not None and can_see(world, caller, found.repository) else None


def role_of(world: World, caller: Caller, repository: Repository) -> Role:
    """What a user may do in the repository; for others only whether they can read it."""
    if isinstance(caller, UserCaller):
        return world.role(repository, caller.user)
    return "read" if can_see(world, caller, repository) else "none"


def may_read(world: World, caller: Caller, repository: Repository, *permissions: str) -> bool:
    """Whether a caller who sees the repository may read what is in it: an installation there with one of these."""
    if not isinstance(caller, InstallationCaller) or not caller.reaches(world, repository):
        return True
    return any(caller.may(permission, "read") for permission in permissions)
