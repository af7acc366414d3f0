"""Apps, installations and their tokens as JSON."""

from __future__ import annotations

from bot.simulator.clock import iso, iso_or_none
from bot.simulator.payloads import Json
from bot.simulator.payloads.accounts import simple_user
from bot.simulator.payloads.repositories import repository
from bot.simulator.state.accounts import Account, App, Installation, InstallationToken
from bot.simulator.state.world import World


def app(world: World, record: App) -> Json:
    """The App ("integration") as shown in comments and events."""
    return {
        "id": record.id,
        "client_id": record.client_id,
        "slug": record.slug,
        "node_id": record.node_id,
        "owner": simple_user(world, record.owner),
        "name": record.name,
        "description": None,
        "external_url": "https://github.com",
        "html_url": f"{world.urls.html}/apps/{record.slug}",
        "created_at": iso(record.created_at),
        "updated_at": iso(record.created_at),
        "permissions": dict(record.permissions),
        "events": list(record.events),
    }


def app_itself(world: World, record: App) -> Json:
    """`GET /app`: like `app`, with the number of installations."""
    count = sum(installation.app is record for installation in world.installations.values())
    return app(world, record) | {"installations_count": count}


def installation(world: World, record: Installation) -> Json:
    """An installation of an App."""
    account = record.account
    paths = list(record.app.single_files)
    prefix = f"organizations/{account.login}/" if account.type == "Organization" else ""
    return {
        "id": record.id,
        "client_id": record.app.client_id,
        "account": _account(world, account),
        "repository_selection": "all" if record.all_repositories else "selected",
        "access_tokens_url": f"{world.urls.api}/app/installations/{record.id}/access_tokens",
        "repositories_url": f"{world.urls.api}/installation/repositories",
        "html_url": f"{world.urls.html}/{prefix}settings/installations/{record.id}",
        "app_id": record.app.id,
        "app_slug": record.app.slug,
        "target_id": account.id,
        "target_type": account.type,
        "permissions": dict(record.permissions),
        "events": list(record.events),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "single_file_name": paths[0] if paths else None,
        "has_multiple_single_files": len(paths) > 1,
        "single_file_paths": paths,
        "suspended_by": simple_user(world, record.suspended_by) if record.suspended_by else None,
        "suspended_at": iso_or_none(record.suspended_at),
    }


def _account(world: World, record: Account) -> Json:
    """The installation's account. GitHub describes it as a user or an enterprise, so it gets the fields of both."""
    created = iso(record.created_at)
    more = {"name": record.name or record.login, "slug": record.login, "created_at": created, "updated_at": created}
    return simple_user(world, record) | more


def installation_token(world: World, record: InstallationToken) -> Json:
    """The answer to `POST …/access_tokens`. Lists repositories only if the token is limited to some of them."""
    everything = record.repositories is None and record.installation.all_repositories
    body: Json = {
        "token": record.token,
        "expires_at": iso(record.expires_at),
        "permissions": dict(record.permissions),
        "repository_selection": "all" if everything else "selected",
    }
    if record.repositories is not None:
        body["repositories"] = [repository(world, world.repositories[key]) for key in sorted(record.repositories)]
    return body
