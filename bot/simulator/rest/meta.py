"""Endpoints that describe the API (https://docs.github.com/rest/meta/meta, …/rest/rate-limit/rate-limit)."""

from __future__ import annotations

from bot.simulator.http.context import Context
from bot.simulator.http.dispatch import VERSIONS
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json

ROUTES = Routes()

_ROOT = {
    "current_user_url": "/user",
    "current_user_authorizations_html_url": "/settings/connections/applications{/client_id}",
    "authorizations_url": "/authorizations",
    "code_search_url": "/search/code?q={query}{&page,per_page,sort,order}",
    "commit_search_url": "/search/commits?q={query}{&page,per_page,sort,order}",
    "emails_url": "/user/emails",
    "emojis_url": "/emojis",
    "events_url": "/events",
    "feeds_url": "/feeds",
    "followers_url": "/user/followers",
    "following_url": "/user/following{/target}",
    "gists_url": "/gists{/gist_id}",
    "issue_search_url": "/search/issues?q={query}{&page,per_page,sort,order}",
    "issues_url": "/issues",
    "keys_url": "/user/keys",
    "label_search_url": "/search/labels?q={query}&repository_id={repository_id}{&page,per_page}",
    "notifications_url": "/notifications",
    "organization_url": "/orgs/{org}",
    "organization_repositories_url": "/orgs/{org}/repos{?type,page,per_page,sort}",
    "organization_teams_url": "/orgs/{org}/teams",
    "public_gists_url": "/gists/public",
    "rate_limit_url": "/rate_limit",
    "repository_url": "/repos/{owner}/{repo}",
    "repository_search_url": "/search/repositories?q={query}{&page,per_page,sort,order}",
    "current_user_repositories_url": "/user/repos{?type,page,per_page,sort}",
    "starred_url": "/user/starred{/owner}{/repo}",
    "starred_gists_url": "/gists/starred",
    "topic_search_url": "/search/topics?q={query}{&page,per_page}",
    "user_url": "/users/{user}",
    "user_organizations_url": "/user/orgs",
    "user_repositories_url": "/users/{user}/repos{?type,page,per_page,sort}",
    "user_search_url": "/search/users?q={query}{&page,per_page,sort,order}",
}


@ROUTES.add("GET", "/", model="Root")
def root(ctx: Context) -> Json:
    """The addresses of the resources."""
    return {name: ctx.sim.urls.api + path for name, path in _ROOT.items()}


@ROUTES.add("GET", "/meta", model="ApiOverview")
def meta(ctx: Context) -> Json:
    """The address ranges of GitHub's services. The simulator has only this machine's range."""
    return {"verifiable_password_authentication": False, "hooks": ["127.0.0.0/8"], "api": ["127.0.0.0/8"]}


@ROUTES.add("GET", "/versions")
def versions(ctx: Context) -> list[str]:
    """The API versions that a client of GitHub.com may ask for."""
    return list(VERSIONS)


@ROUTES.add("GET", "/rate_limit", model="RateLimitOverview")
def rate_limit(ctx: Context) -> Reply:
    """All primary limits of the caller; asking costs nothing."""
    resources = {name: ctx.sim.limits.state(ctx.caller.key, name) for name in ctx.sim.limits.primary}
    headers = ctx.sim.limits.headers(ctx.caller.key, "core")
    return Reply({"resources": resources, "rate": resources["core"]}, headers=headers)
