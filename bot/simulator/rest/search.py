"""Searching issues (https://docs.github.com/rest/search/search#search-issues-and-pull-requests)."""

from __future__ import annotations

import math

from bot.simulator.access import can_see, may_read
from bot.simulator.callers import Anonymous, UserCaller
from bot.simulator.errors import ApiError, invalid, unauthorized
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads.issues import issue
from bot.simulator.search import QueryError, Result

ROUTES = Routes()


def find(
    ctx: Context,
    q: str,
    *,
    page: int,
    per_page: int,
    sort: str | None = None,
    order: str = "desc",
    search_type: str | None = None,
    require_kind: bool = True,
) -> Result:
    """Search what the caller may see; a QueryError becomes 422. `SearchIndex.search` explains the parameters."""
    ctx.sim.flush_index()

    def visible(full_name: str) -> bool:
        repo = ctx.sim.named(full_name)
        # Searches do not follow renames.
        if repo is None or repo.full_name.lower() != full_name or not can_see(ctx.sim, ctx.caller, repo):
            return False
        return may_read(ctx.sim, ctx.caller, repo, "issues", "pull_requests")

    embeddings_fail = ctx.fault is not None and ctx.fault.kind == "hybrid_unavailable"
    try:
        return ctx.sim.index.search(
            q,
            page=page,
            per_page=per_page,
            sort=sort,
            order=order,
            search_type=search_type,
            visible=visible,
            user_exists=lambda login: login in ctx.sim.accounts,
            viewer=ctx.caller.account.login if ctx.caller.account else "",
            require_kind=require_kind and _needs_kind(ctx),
            # In an outage, the engine falls back to a search by words, as GitHub does.
            outage="service_unavailable" if embeddings_fail else None,
        )
    except QueryError as error:
        raise ApiError(
            422, error.message, errors=error.errors or None, documentation=error.documentation_url
        ) from error


def _needs_kind(ctx: Context) -> bool:
    """Whether a query must have `is:issue` or `is:pull-request`, as GitHub demands of Apps and fine-grained tokens."""
    if isinstance(ctx.caller, UserCaller):
        return ctx.caller.fine_grained
    return not isinstance(ctx.caller, Anonymous)


@ROUTES.add(
    "GET", "/search/issues", permissions=(("issues", "read"),), model="SearchIssuesGetResponse200", resource="search"
)
def search_issues(ctx: Context) -> Reply:
    """Search issues and pull requests, ranked and in pages, up to the thousandth result."""
    search_type = ctx.query.get("search_type")
    if search_type not in (None, "semantic", "hybrid"):
        raise invalid("Search", "search_type", "invalid", value=search_type)
    if search_type is not None and isinstance(ctx.caller, Anonymous):
        raise unauthorized("Requires authentication")
    page, per_page = ctx.paging()
    results = find(
        ctx,
        ctx.query.get("q", ""),
        page=page,
        per_page=per_page,
        sort=ctx.query.get("sort"),
        order=ctx.query.get("order", "desc"),
        search_type=search_type,
    )
    hits = [issue(ctx.sim, ctx.sim.issues_by_id[key]) for key in results.ids]
    # GitHub's OpenAPI description allows a null body for a single issue, but not in search results.
    items = [one | {"score": score, "body": one["body"] or ""} for one, score in zip(hits, results.scores, strict=True)]
    body = {
        "total_count": results.total_count,
        "incomplete_results": results.incomplete_results,
        "items": items,
        "search_type": results.search_type,
    }
    if results.fallback_reasons:
        body["lexical_fallback_reason"] = list(results.fallback_reasons)
    last_page = max(1, math.ceil(min(results.total_count, 1_000) / per_page))
    return Reply(body, headers=ctx.links(page, last_page))
