"""How each field that is no plain attribute gets its value, and who may read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from graphql import GraphQLResolveInfo

from bot.simulator.access import can_see, may_read
from bot.simulator.callers import InstallationCaller
from bot.simulator.clock import iso, read_iso
from bot.simulator.errors import ApiError
from bot.simulator.graphql import discussions
from bot.simulator.graphql.connections import check, connection, cursor, page_info, position
from bot.simulator.graphql.errors import Refusal, inaccessible, unresolved
from bot.simulator.http.context import Context
from bot.simulator.rest.search import find
from bot.simulator.state.accounts import Account
from bot.simulator.state.discussions import Discussion
from bot.simulator.state.issues import Comment, Issue
from bot.simulator.state.repositories import Label, Project, ProjectItem, Repository

Info = GraphQLResolveInfo[Context]
Resolver = Callable[..., Any]


class Resolvers(dict[tuple[str, str], Resolver]):
    """What one file resolves, by type and field."""

    def add(self, *names: str) -> Callable[[Resolver], Resolver]:
        """Enter the function below as the resolver of `Type.field` (several, where types share it)."""

        def enter(resolver: Resolver) -> Resolver:
            for name in names:
                kind, _, key = name.partition(".")
                self[kind, key] = resolver
            return resolver

        return enter


RESOLVERS = Resolvers()

_NO_COUNTS = {"discussionCount": 0, "issueCount": 0, "repositoryCount": 0, "userCount": 0}
_SEARCHES = {"ISSUE": None, "ISSUE_ADVANCED": None, "ISSUE_HYBRID": "hybrid", "ISSUE_SEMANTIC": "semantic"}


def default(source: Any, info: Info, **args: Any) -> Any:
    """A mapping's key, or a record's attribute of the same name in Python's spelling; times as text."""
    if isinstance(source, Mapping):
        return source.get(info.field_name)
    value = getattr(source, re.sub(r"([A-Z])", r"_\1", info.field_name).lower())
    return iso(value) if isinstance(value, datetime) else value


def kind_of(value: Any) -> str:
    """The GraphQL type of a record."""
    match value:
        case Account():
            return value.type
        case Issue():
            return "PullRequest" if value.is_pull_request else "Issue"
        case Comment():
            return "IssueComment"
        case {"__typename": str(kind)}:
            return kind
        case ProjectItem():
            return "ProjectV2Item"
        case Project():
            return "ProjectV2"
        case Repository() | Label() | Discussion():
            return type(value).__name__
    return "ProjectV2ItemFieldSingleSelectValue"


def readable(ctx: Context, repo: Repository) -> None:
    """Refuse an App that was not given the permission to read issues in a repository it is installed on."""
    if not may_read(ctx.sim, ctx.caller, repo, "issues", "pull_requests"):
        raise inaccessible()


@RESOLVERS.add("Query.repository")
def repository(_: Any, info: Info, owner: str, name: str, **args: Any) -> Repository:
    ctx = info.context
    key = ctx.sim.names.get(f"{owner}/{name}".lower())
    repo = ctx.sim.repositories.get(key) if key is not None else None
    if repo is None or not can_see(ctx.sim, ctx.caller, repo):
        raise unresolved("a Repository", "name", f"'{owner}/{name}'")
    return repo


@RESOLVERS.add("Query.node")
def node(_: Any, info: Info, id: str) -> Any:
    ctx = info.context
    found = ctx.sim.nodes.get(id)
    home = found.issue if isinstance(found, Comment) else found
    if isinstance(home, Project | ProjectItem) and not sees_projects(ctx):
        raise inaccessible()
    if isinstance(home, ProjectItem):
        home = ctx.sim.issues_by_id.get(home.issue_id)
    elif isinstance(home, Label):
        home = ctx.sim.home_of(home)
    repo = home.repository if isinstance(home, Issue | Discussion) else home
    kind = None if found is None else kind_of(found)
    if kind is None or (isinstance(repo, Repository) and not can_see(ctx.sim, ctx.caller, repo)):
        raise unresolved("a node", "global id of", f"'{id}'")
    if isinstance(home, Issue):
        readable(ctx, home.repository)
    return found


@RESOLVERS.add("Query.nodes")
def nodes(_: Any, info: Info, ids: list[str]) -> list[Any]:
    return [_or_error(node, info, key) for key in ids]


def _or_error(resolver: Resolver, info: Info, key: str) -> Any:
    try:
        return resolver(None, info, key)
    except Refusal as refusal:
        return refusal


@RESOLVERS.add("Query.viewer")
def viewer(_: Any, info: Info) -> Account:
    ctx = info.context
    return ctx.actor


@RESOLVERS.add("Query.user", "Query.organization")
def account(_: Any, info: Info, login: str) -> Account:
    ctx = info.context
    found = ctx.sim.account(login)
    wanted = info.field_name.capitalize()
    if found is None or found.type != wanted:
        raise unresolved(f"a {wanted}", "login of", f"'{login}'")
    return found


@RESOLVERS.add("Query.rateLimit")
def rate_limit(_: Any, info: Info, **args: Any) -> dict[str, Any]:
    ctx = info.context
    state = ctx.sim.limits.state(ctx.caller.key, "graphql")
    reset = iso(datetime.fromtimestamp(state["reset"], UTC))
    return {**state, "resetAt": reset, "cost": 1, "nodeCount": 0}


@RESOLVERS.add("Query.search")
def search(_: Any, info: Info, query: str, type: str, **args: Any) -> dict[str, Any]:
    ctx = info.context
    if type == "DISCUSSION":
        return discussions.search(ctx, query, args)
    if type not in _SEARCHES:
        return {"edges": [], "nodes": [], **_NO_COUNTS} | {"pageInfo": page_info([], False, False)}
    if args.get("last") is not None or args.get("before"):
        what = "a search from its end"
        ctx.sim.unknown_requests.append(f"POST /graphql: {what}")
        raise Refusal("UNPROCESSABLE", f"The simulator does not know {what}")
    first = check("search", args)[0] or 0
    # Who asks for none still wants to know how many there are.
    size = max(first, 1)
    start = position(args.get("after"), 0)
    # The engine pages by number; a cursor may point anywhere, so that two of its pages can make one of ours.
    page, skip = start // size + 1, start % size
    try:
        found = [
            find(ctx, query, page=at, per_page=size, search_type=_SEARCHES[type], require_kind=False)
            for at in ((page, page + 1) if skip else (page,))
        ]
    except ApiError as error:
        raise Refusal("UNPROCESSABLE", error.message) from error
    keys = [key for result in found for key in result.ids][skip : skip + first]
    edges = [{"cursor": cursor(start + at + 1), "node": ctx.sim.issues_by_id[key]} for at, key in enumerate(keys)]
    total = found[0].total_count
    return {
        "edges": edges,
        "nodes": [edge["node"] for edge in edges],
        **_NO_COUNTS,
        "issueCount": total,
        "pageInfo": page_info(edges, start > 0, start + len(keys) < min(total, 1_000)),
    }


@RESOLVERS.add("Repository.issue", "Repository.issueOrPullRequest")
def issue(source: Repository, info: Info, number: int) -> Issue:
    ctx = info.context
    readable(ctx, source)
    found = ctx.sim.issues[source.id].get(number)
    either = info.field_name == "issueOrPullRequest"
    if not isinstance(found, Issue) or (found.is_pull_request and not either):
        raise unresolved("an issue or pull request" if either else "an Issue", "number of", number)
    return found


@RESOLVERS.add("Repository.issues")
def issues(source: Repository, info: Info, **args: Any) -> dict[str, Any]:
    ctx = info.context
    readable(ctx, source)
    filters = args.get("filterBy") or {}
    states = {state.lower() for state in (filters.get("states") or args.get("states") or ())}
    labels = {label.lower() for label in (filters.get("labels") or args.get("labels") or ())}
    creator, since = (filters.get("createdBy") or "").lower(), read_iso(filters.get("since"))
    found = [
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
    found.sort(key=keys[order["field"]], reverse=order["direction"] == "DESC")
    return connection("issues", found, args)


@RESOLVERS.add("Repository.label")
def label(source: Repository, info: Info, name: str) -> Label | None:
    return source.labels.get(name.lower())


@RESOLVERS.add("Repository.labels")
def repository_labels(source: Repository, info: Info, **args: Any) -> dict[str, Any]:
    return connection("labels", list(source.labels.values()), args)


@RESOLVERS.add("Issue.labels", "PullRequest.labels")
def issue_labels(source: Issue, info: Info, **args: Any) -> dict[str, Any]:
    return connection("labels", source.labels, args)


@RESOLVERS.add("Issue.comments", "PullRequest.comments")
def comments(source: Issue, info: Info, **args: Any) -> dict[str, Any]:
    return connection("comments", source.comments, args)


@RESOLVERS.add("Issue.projectItems")
def project_items(source: Issue, info: Info, **args: Any) -> dict[str, Any]:
    ctx = info.context
    page = connection("projectItems", ctx.sim.items[source.id], args)
    if not sees_projects(ctx):
        # Each item is an error of its own; that there are some is no secret.
        page["nodes"] = [inaccessible() for _ in page["nodes"]]
    return page


def sees_projects(ctx: Context) -> bool:
    """Projects belong to organizations; an App reads them only with a permission of its own."""
    return not isinstance(ctx.caller, InstallationCaller) or ctx.caller.may("organization_projects", "read")
