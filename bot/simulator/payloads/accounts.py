"""Users, organizations and bots as JSON."""

from __future__ import annotations

from urllib.parse import quote

from bot.simulator.clock import iso
from bot.simulator.payloads import Json
from bot.simulator.state.accounts import Account
from bot.simulator.state.world import World


def simple_user(world: World, account: Account) -> Json:
    """GitHub's "simple user", which nearly every other JSON body contains."""
    url = f"{world.urls.api}/users/{quote(account.login)}"
    page = f"apps/{account.login.removesuffix('[bot]')}" if account.type == "Bot" else account.login
    return {
        "login": account.login,
        "id": account.id,
        "node_id": account.node_id,
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.urls.html}/{page}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": account.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def public_user(world: World, account: Account) -> Json:
    """A user's profile as anybody sees it."""
    owned = [repo for repo in world.repositories.values() if repo.owner is account and not repo.private]
    return simple_user(world, account) | {
        "name": account.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": None,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": len(owned),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": iso(account.created_at),
        "updated_at": iso(account.created_at),
    }


def private_user(world: World, account: Account) -> Json:
    """A user's profile as they see it themselves."""
    private = sum(repo.owner is account and repo.private for repo in world.repositories.values())
    return public_user(world, account) | {
        "user_view_type": "private",
        "private_gists": 0,
        "total_private_repos": private,
        "owned_private_repos": private,
        "disk_usage": 0,
        "collaborators": 0,
        "two_factor_authentication": True,
        "plan": {"name": "free", "space": 0, "collaborators": 0, "private_repos": 0},
    }


def organization(world: World, account: Account) -> Json:
    """The organization as webhooks show it."""
    url = f"{world.urls.api}/orgs/{quote(account.login)}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": account.node_id,
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account.id}?v=4",
        "description": None,
    }
