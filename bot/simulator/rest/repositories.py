"""Repositories (https://docs.github.com/rest/repos/repos)."""

from __future__ import annotations

from bot.simulator.access import role_of
from bot.simulator.callers import InstallationCaller
from bot.simulator.http.context import Context
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.repositories import full_repository, permissions

ROUTES = Routes()


@ROUTES.add("GET", "/repos/<owner>/<repo>", permissions=(("metadata", "read"),), model="FullRepository")
def get_repository(ctx: Context) -> Json:
    """A repository."""
    repo = ctx.repository()
    body = full_repository(ctx.sim, repo)
    if isinstance(ctx.caller, InstallationCaller):
        return body | {"permissions": {**permissions("read"), "push": ctx.caller.may("contents", "write")}}
    if ctx.caller.account is not None:
        body["permissions"] = permissions(role_of(ctx.sim, ctx.caller, repo))
    return body
