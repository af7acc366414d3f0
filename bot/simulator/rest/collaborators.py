"""A user's role in a repository (https://docs.github.com/rest/collaborators/collaborators)."""

from __future__ import annotations

from bot.simulator.errors import ApiError
from bot.simulator.http.context import Context
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.accounts import simple_user
from bot.simulator.payloads.repositories import permissions

ROUTES = Routes()

# GitHub's field `permission` has no value for these roles, and gives a lower role instead. `role_name` is exact.
_LOWER_ROLE = {"triage": "read", "maintain": "write"}


@ROUTES.add(
    "GET",
    "/repos/<owner>/<repo>/collaborators/<login>/permission",
    permissions=(("metadata", "read"),),
    role="write",
    model="RepositoryCollaboratorPermission",
)
def get_permission(ctx: Context) -> Json:
    """A user's role; 404 for unknown logins, bots and organizations."""
    repo = ctx.repository()
    login = ctx.params["login"]
    account = ctx.sim.account(login)
    if account is None or account.type != "User":
        raise ApiError(404, f"{login} is not a user")
    role = ctx.sim.role(repo, account)
    user = simple_user(ctx.sim, account) | {"permissions": permissions(role), "role_name": role}
    return {"permission": _LOWER_ROLE.get(role, role), "role_name": role, "user": user}
