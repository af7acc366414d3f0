"""Installations and their tokens (https://docs.github.com/rest/apps/apps, …/apps/installations)."""

from __future__ import annotations

from typing import Any

from bot.simulator.callers import InstallationCaller
from bot.simulator.errors import ApiError, forbidden, not_found
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json, apps
from bot.simulator.payloads.repositories import permissions, repository
from bot.simulator.state.accounts import Installation
from bot.simulator.state.repositories import Repository

ROUTES = Routes()


@ROUTES.add("GET", "/app/installations", auth="app", model="[Installation]")
def list_installations(ctx: Context) -> Reply:
    """The App's installations."""
    mine = [entry for entry in ctx.sim.installations.values() if entry.app is ctx.app]
    return ctx.page(mine, lambda entry: apps.installation(ctx.sim, entry))


@ROUTES.add("GET", "/app/installations/<int:installation_id>", auth="app", model="Installation")
def get_installation(ctx: Context) -> Json:
    """One installation."""
    return apps.installation(ctx.sim, _installation(ctx))


@ROUTES.add(
    "POST",
    "/app/installations/<int:installation_id>/access_tokens",
    auth="app",
    model="InstallationToken",
    request="AppInstallationsInstallationIdAccessTokensPostBody",
)
def create_token(ctx: Context) -> Reply:
    """A token for an hour; the body may narrow it by `repositories` or `repository_ids`, and `permissions`."""
    installation = _installation(ctx)
    if installation.suspended_at is not None:
        raise forbidden("This installation has been suspended")
    chosen = _chosen(ctx, installation)
    # Clients may send empty `permissions`, which narrow nothing.
    token = ctx.sim.make_installation_token(installation, ctx.data.get("permissions") or None, chosen)
    return Reply(apps.installation_token(ctx.sim, token), 201)


@ROUTES.add("DELETE", "/app/installations/<int:installation_id>", auth="app")
def delete_installation(ctx: Context) -> Reply:
    """Remove the App from an account."""
    ctx.sim.uninstall(_installation(ctx))
    return Reply(None, 204)


@ROUTES.add("GET", "/repos/<owner>/<repo>/installation", auth="app", model="Installation")
def of_repository(ctx: Context) -> Json:
    """The App's installation on a repository."""
    repo = ctx.sim.named(f"{ctx.params['owner']}/{ctx.params['repo']}")
    record = ctx.sim.installation_for(ctx.app, repo) if repo is not None else None
    if record is None:
        raise not_found()
    return apps.installation(ctx.sim, record)


@ROUTES.add("GET", "/orgs/<login>/installation", auth="app", model="Installation")
def of_organization(ctx: Context) -> Json:
    """The App's installation on an organization."""
    return _on_account(ctx, "Organization")


@ROUTES.add("GET", "/users/<login>/installation", auth="app", model="Installation")
def of_user(ctx: Context) -> Json:
    """The App's installation on a user's account."""
    return _on_account(ctx, "User")


@ROUTES.add("GET", "/installation/repositories", auth="installation", model="InstallationRepositoriesGetResponse200")
def list_repositories(ctx: Context) -> Reply:
    """The repositories that the token reaches."""
    caller = ctx.caller
    if not isinstance(caller, InstallationCaller):
        raise not_found()
    mine = [repo for repo in ctx.sim.repositories.values() if caller.reaches(ctx.sim, repo)]
    granted = {**permissions("read"), "push": caller.may("contents", "write")}
    page = ctx.page(mine, lambda repo: repository(ctx.sim, repo) | {"permissions": granted})
    everything = caller.installation.all_repositories and caller.token.repositories is None
    selection = "all" if everything else "selected"
    body = {"total_count": len(mine), "repository_selection": selection, "repositories": page.body}
    return Reply(body, headers=page.headers)


@ROUTES.add("DELETE", "/installation/token", auth="installation")
def revoke_token(ctx: Context) -> Reply:
    """Revoke the token with which the request was made."""
    if isinstance(ctx.caller, InstallationCaller):
        ctx.sim.installation_tokens.pop(ctx.caller.token.token, None)
    return Reply(None, 204)


def _installation(ctx: Context) -> Installation:
    record = ctx.sim.installations.get(ctx.params["installation_id"])
    if record is None or record.app is not ctx.app:
        raise not_found()
    return record


def _on_account(ctx: Context, kind: str) -> Json:
    for record in ctx.sim.installations.values():
        account = record.account
        if record.app is ctx.app and account.type == kind and account.login.lower() == ctx.params["login"].lower():
            return apps.installation(ctx.sim, record)
    raise not_found()


def _chosen(ctx: Context, installation: Installation) -> list[Repository] | None:
    """The repositories that the body lists; None without any. Raises ApiError (422) if the installation lacks one."""
    names: list[Any] = ctx.data.get("repositories") or []
    keys: list[Any] = ctx.data.get("repository_ids") or []
    if not names and not keys:
        return None
    mine = ctx.sim.repositories_of(installation)
    by_name = {repo.name.lower(): repo for repo in mine}
    by_id = {repo.id: repo for repo in mine}
    found = [by_name.get(str(name).lower()) for name in names] + [by_id.get(key) for key in keys]
    chosen = [repo for repo in found if repo is not None]
    if len(chosen) != len(found):
        raise ApiError(
            422,
            "There is at least one repository that does not exist or is not accessible to the parent installation.",
        )
    return chosen
