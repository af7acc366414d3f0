"""`Discussion`, and searching for discussions.

https://docs.github.com/search-github/searching-on-github/searching-discussions
"""

from __future__ import annotations

from typing import Any

from bot.simulator.access import can_see, may_read
from bot.simulator.graphql.connections import check, cursor, page_info
from bot.simulator.graphql.errors import Refusal
from bot.simulator.graphql.table import Info, Resolvers
from bot.simulator.http.context import Context
from bot.simulator.search import Document, QueryError, SearchIndex
from bot.simulator.state.discussions import Discussion

RESOLVERS = Resolvers()


def search(ctx: Context, query: str, args: dict[str, Any]) -> dict[str, Any]:
    """The first discussions with all words of the query. Refuses operators, and qualifiers except `repo:` and `in:`."""
    if args.get("after") or args.get("before") or args.get("last"):
        raise Refusal("UNPROCESSABLE", "Further pages of a search for discussions are not simulated here.")
    for part in query.split():
        other_qualifier = ":" in part and not part.startswith(("repo:", "in:"))
        if other_qualifier or set(part) & set('()"') or part in ("OR", "AND", "NOT"):
            raise Refusal("UNPROCESSABLE", f"{part} in a search for discussions is not simulated here.")

    def visible(full_name: str) -> bool:
        repo = ctx.sim.named(full_name)
        if repo is None or not can_see(ctx.sim, ctx.caller, repo):
            return False
        return may_read(ctx.sim, ctx.caller, repo, "discussions")

    first, _ = check("search", args)
    try:
        # `require_kind=True` would demand `is:issue` or `is:pull-request`.
        results = _index(ctx).search(query, per_page=first or 1, visible=visible, require_kind=False)
        keys, total = results.ids, results.total_count
    except QueryError:
        # If no repository is visible, GitHub refuses a search for issues, but a search for discussions finds nothing.
        keys, total = [], 0
    edges = [{"cursor": cursor(at + 1), "node": ctx.sim.discussions[key]} for at, key in enumerate(keys)]
    return {
        "edges": edges,
        "nodes": [edge["node"] for edge in edges],
        "discussionCount": total,
        "issueCount": 0,
        "repositoryCount": 0,
        "userCount": 0,
        "pageInfo": page_info(edges, False, len(keys) < total),
    }


def _index(ctx: Context) -> SearchIndex:
    """A new index, which is quick to build: there are few discussions."""
    index = SearchIndex()
    for one in ctx.sim.discussions.values():
        document = Document(
            id=one.id,
            repo=one.repository.full_name,
            number=one.number,
            title=one.title,
            body=one.body,
            created_at=one.created_at,
            updated_at=one.updated_at,
            author=one.author.login,
        )
        index.put(document)
    return index


@RESOLVERS.add("Discussion.url")
def discussion_url(source: Discussion, info: Info) -> str:
    return f"{info.context.sim.urls.html}/{source.repository.full_name}/discussions/{source.number}"


@RESOLVERS.add("Discussion.closed")
def discussion_closed(source: Discussion, info: Info) -> bool:
    return source.closed_at is not None


@RESOLVERS.add("Discussion.stateReason")
def discussion_state_reason(source: Discussion, info: Info) -> str | None:
    return source.state_reason.upper() if source.state_reason else None


@RESOLVERS.add("Discussion.isAnswered")
def is_answered(source: Discussion, info: Info) -> bool:
    return source.answered
