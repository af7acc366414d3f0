"""Users (https://docs.github.com/rest/users/users)."""

from __future__ import annotations

from bot.simulator.errors import not_found
from bot.simulator.http.context import Context
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.accounts import private_user, public_user

ROUTES = Routes()


@ROUTES.add("GET", "/user", auth="user", model="PrivateUser")
def get_authenticated(ctx: Context) -> Json:
    """The token's user."""
    return private_user(ctx.sim, ctx.actor)


@ROUTES.add("GET", "/users/<login>", model="PublicUser")
def get_user(ctx: Context) -> Json:
    """A user's public profile."""
    account = ctx.sim.account(ctx.params["login"])
    if account is None:
        raise not_found()
    return public_user(ctx.sim, account)
