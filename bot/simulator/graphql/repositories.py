"""`Repository` and its `Label`s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from bot.simulator.access import may_read, role_of
from bot.simulator.callers import InstallationCaller
from bot.simulator.clock import iso, read_iso
from bot.simulator.graphql.connections import connection
from bot.simulator.graphql.errors import inaccessible, unresolved
from bot.simulator.graphql.table import Info, Resolvers
from bot.simulator.http.context import Context
from bot.simulator.state.issues import Issue
from bot.simulator.state.repositories import Label, Repository

RESOLVERS = Resolvers()


def check_readable(ctx: Context, repo: Repository) -> None:
    """Refuse an App that is installed on the repository but may read neither issues nor pull requests."""
    if not may_read(ctx.sim, ctx.caller, repo, "issues", "pull_requests"):
        raise inaccessible()


@RESOLVERS.add("Repository.issue", "Repository.issueOrPullRequest")
def issue(source: Repository, info: Info, number: int) -> Issue:
    ctx = info.context
    check_readable(ctx, source)
    record = ctx.sim.issues[source.id].get(number)
    either = info.field_name == "issueOrPullRequest"
    if not isinstance(record, Issue) or (record.is_pull_request and not either):
        raise unresolved("an issue or pull request" if either else "an Issue", by="number of", value=number)
    return record


@RESOLVERS.add("Repository.issues")
def issues(source: Repository, info: Info, **args: Any) -> dict[str, Any]:
    ctx = info.context
    check_readable(ctx, source)
    filters = args.get("filterBy") or {}
    states = {state.lower() for state in (filters.get("states") or args.get("states") or ())}
    labels = {label.lower() for label in (filters.get("labels") or args.get("labels") or ())}
    creator, since = (filters.get("createdBy") or "").lower(), read_iso(filters.get("since"))
    matches = [
        entry
        for entry in ctx.sim.issues_of(source)
        if not entry.is_pull_request
        and (not states or entry.state in states)
        and (not labels or labels & {label.name.lower() for label in entry.labels})
        and (not creator or entry.author.login.lower() == creator)
        and (since is None or entry.updated_at >= since)
    ]
    order = args.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
    keys: dict[str, Callable[[Issue], Any]] = {
        "CREATED_AT": lambda entry: (entry.created_at, entry.number),
        "UPDATED_AT": lambda entry: (entry.updated_at, entry.number),
        "COMMENTS": lambda entry: (len(entry.comments), entry.number),
    }
    matches.sort(key=keys[order["field"]], reverse=order["direction"] == "DESC")
    return connection("issues", matches, args)


@RESOLVERS.add("Repository.releases")
def releases(source: Repository, info: Info, **args: Any) -> dict[str, Any]:
    made = [
        {"tagName": tag, "publishedAt": iso(published), "isDraft": False, "isPrerelease": "-" in tag}
        for tag, published in sorted(source.releases, key=lambda one: one[1], reverse=True)
    ]
    return connection("releases", made, args)


@RESOLVERS.add("Repository.label")
def label(source: Repository, info: Info, name: str) -> Label | None:
    return source.labels.get(name.lower())


@RESOLVERS.add("Repository.labels")
def repository_labels(source: Repository, info: Info, **args: Any) -> dict[str, Any]:
    return connection("labels", list(source.labels.values()), args)


@RESOLVERS.add("Repository.nameWithOwner")
def name_with_owner(source: Repository, info: Info) -> str:
    return source.full_name


@RESOLVERS.add("Repository.url")
def repository_url(source: Repository, info: Info) -> str:
    return f"{info.context.sim.urls.html}/{source.full_name}"


@RESOLVERS.add("Repository.isPrivate")
def is_private(source: Repository, info: Info) -> bool:
    return source.private


@RESOLVERS.add("Repository.isArchived")
def is_archived(source: Repository, info: Info) -> bool:
    return source.archived


@RESOLVERS.add("Repository.hasIssuesEnabled")
def has_issues(source: Repository, info: Info) -> bool:
    return source.has_issues


@RESOLVERS.add("Repository.discussions")
def repository_discussions(source: Repository, info: Info, **args: Any) -> dict[str, Any]:
    ctx = info.context
    if not may_read(ctx.sim, ctx.caller, source, "discussions"):
        raise inaccessible()
    return connection("discussions", [one for one in ctx.sim.discussions.values() if one.repository is source], args)


@RESOLVERS.add("Repository.viewerPermission")
def viewer_permission(source: Repository, info: Info) -> str | None:
    ctx = info.context
    return None if isinstance(ctx.caller, InstallationCaller) else role_of(ctx.sim, ctx.caller, source).upper()


@RESOLVERS.add("Label.url")
def label_url(source: Label, info: Info) -> str:
    repository = info.context.sim.home_of(source)
    return f"{info.context.sim.urls.html}/{repository.full_name}/labels/{quote(source.name)}"


@RESOLVERS.add("Label.isDefault")
def is_default(source: Label, info: Info) -> bool:
    return source.default
