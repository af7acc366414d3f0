"""What an App may ask about a person who has signed in to it (https://docs.github.com/rest/apps/installations)."""

from __future__ import annotations

from bot.simulator.callers import UserCaller
from bot.simulator.errors import ApiError, not_found
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import apps
from bot.simulator.payloads.repositories import repository
from bot.simulator.state.accounts import Account, App, Installation
from bot.simulator.state.repositories import Repository

ROUTES = Routes()


@ROUTES.add("GET", "/user/installations", auth="user", model="UserInstallationsGetResponse200")
def list_installations(ctx: Context) -> Reply:
    """The App's installations that cover a repository visible to the person."""
    person, app = _visitor(ctx)
    visible = [one for one in ctx.sim.installations.values() if one.app is app and _visible(ctx, one, person)]
    page = ctx.page(visible, lambda one: apps.installation(ctx.sim, one))
    return Reply({"total_count": len(visible), "installations": page.body}, headers=page.headers)


@ROUTES.add(
    "GET",
    "/user/installations/<int:installation_id>/repositories",
    auth="user",
    model="UserInstallationsInstallationIdRepositoriesGetResponse200",
)
def list_repositories(ctx: Context) -> Reply:
    """The installation's repositories that the person can see, with the person's permissions."""
    person, app = _visitor(ctx)
    record = ctx.sim.installations.get(ctx.params["installation_id"])
    visible = _visible(ctx, record, person) if record is not None and record.app is app else []
    if not visible:
        raise not_found()
    page = ctx.page(visible, lambda repo: repository(ctx.sim, repo, ctx.sim.role(repo, person)))
    return Reply({"total_count": len(visible), "repositories": page.body}, headers=page.headers)


def _visitor(ctx: Context) -> tuple[Account, App]:
    caller = ctx.caller
    if not isinstance(caller, UserCaller) or caller.app is None:
        raise ApiError(
            403,
            "You must authenticate with an access token authorized to a GitHub App in order to list installations",
        )
    return caller.user, caller.app


def _visible(ctx: Context, installation: Installation, person: Account) -> list[Repository]:
    return [repo for repo in ctx.sim.repositories_of(installation) if ctx.sim.role(repo, person) != "none"]
