"""The root type `Query`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.simulator.access import can_see
from bot.simulator.clock import iso
from bot.simulator.errors import ApiError
from bot.simulator.graphql import discussions
from bot.simulator.graphql.connections import check, cursor, page_info, position
from bot.simulator.graphql.errors import Refusal, inaccessible, unknown, unresolved
from bot.simulator.graphql.projects import sees_projects
from bot.simulator.graphql.repositories import check_readable
from bot.simulator.graphql.table import Info, Resolver, Resolvers
from bot.simulator.rest.search import find
from bot.simulator.search import index as engine
from bot.simulator.state.accounts import Account
from bot.simulator.state.discussions import Discussion
from bot.simulator.state.issues import Comment, Issue
from bot.simulator.state.repositories import Label, Project, ProjectItem, Repository

RESOLVERS = Resolvers()

_NO_COUNTS = {"discussionCount": 0, "issueCount": 0, "repositoryCount": 0, "userCount": 0}
_REST_SEARCH_TYPES = {"ISSUE": None, "ISSUE_ADVANCED": None, "ISSUE_HYBRID": "hybrid", "ISSUE_SEMANTIC": "semantic"}


@RESOLVERS.add("Query.repository")
def repository(_: Any, info: Info, owner: str, name: str, **args: Any) -> Repository:
    ctx = info.context
    repo = ctx.sim.named(f"{owner}/{name}")
    if repo is None or not can_see(ctx.sim, ctx.caller, repo):
        raise unresolved("a Repository", "name", f"'{owner}/{name}'")
    return repo


@RESOLVERS.add("Query.node")
def node(_: Any, info: Info, id: str) -> Any:
    ctx = info.context
    record = ctx.sim.nodes.get(id)
    if isinstance(record, Project | ProjectItem) and not sees_projects(ctx):
        raise inaccessible()
    parent = record.issue if isinstance(record, Comment) else record
    if isinstance(record, ProjectItem):
        parent = ctx.sim.issues_by_id.get(record.issue_id)
    elif isinstance(record, Label):
        parent = ctx.sim.home_of(record)
    repo = parent.repository if isinstance(parent, Issue | Discussion) else parent
    is_hidden = isinstance(repo, Repository) and not can_see(ctx.sim, ctx.caller, repo)
    if record is None or is_hidden:
        raise unresolved("a node", "global id of", f"'{id}'")
    if isinstance(parent, Issue):
        check_readable(ctx, parent.repository)
    return record


@RESOLVERS.add("Query.nodes")
def nodes(_: Any, info: Info, ids: list[str]) -> list[Any]:
    return [_or_error(node, info, key) for key in ids]


def _or_error(resolver: Resolver, info: Info, key: str) -> Any:
    try:
        return resolver(None, info, key)
    except Refusal as refusal:
        # graphql-core turns a returned error into an error of this item alone.
        return refusal


@RESOLVERS.add("Query.viewer")
def viewer(_: Any, info: Info) -> Account:
    return info.context.actor


@RESOLVERS.add("Query.user", "Query.organization")
def account(_: Any, info: Info, login: str) -> Account:
    ctx = info.context
    record = ctx.sim.account(login)
    kind = info.field_name.capitalize()  # User or Organization
    if record is None or record.type != kind:
        raise unresolved(f"a {kind}", "login of", f"'{login}'")
    return record


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
    if type not in _REST_SEARCH_TYPES:
        return {"edges": [], "nodes": [], **_NO_COUNTS, "pageInfo": page_info([], before=False, after=False)}
    if args.get("last") is not None or args.get("before"):
        raise unknown(ctx, "a search from its end")
    first, _last = check("search", args)
    size = first or 1  # A client that asks for no items still wants the number of issues.
    start = position(args.get("after"), 0)
    # The engine has only numbered pages. If the cursor points into a page, the answer needs this page and the next.
    page, skip = start // size + 1, start % size
    try:
        # GraphQL accepts queries without `is:issue`; from Apps and fine-grained tokens, REST does not.
        results = [
            find(ctx, query, page=at, per_page=size, search_type=_REST_SEARCH_TYPES[type], require_kind=False)
            for at in ((page, page + 1) if skip else (page,))
        ]
    except ApiError as error:
        raise Refusal("UNPROCESSABLE", error.message) from error
    found = [key for result in results for key in result.ids]
    keys = found[skip : skip + size] if first else []
    edges = [{"cursor": cursor(start + at + 1), "node": ctx.sim.issues_by_id[key]} for at, key in enumerate(keys)]
    total = results[0].total_count
    return {
        "edges": edges,
        "nodes": [edge["node"] for edge in edges],
        **_NO_COUNTS,
        "issueCount": total,
        "pageInfo": page_info(edges, before=start > 0, after=start + len(keys) < min(total, engine.REACHABLE)),
    }
