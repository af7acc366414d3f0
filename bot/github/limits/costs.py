"""What a request costs, in the currencies in which GitHub counts. Pure.

From https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api and …/rest/search/search: searches
by the minute, points for the secondary limit (reading 1, writing 5), and requests that create content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

CORE = "core"
APP = "app"
SEARCH = "search"
HYBRID = "semantic_search"
GRAPHQL = "graphql"
POINTS = "points"
GRAPHQL_POINTS = "graphql_points"
CONTENT = "content"

_WRITE_POINTS = 5
# A new token, a label that is there already, a reaction given twice, a comment folded twice: GitHub ends in the same
# state. A second comment is a second comment, and a delivery asked for again is delivered again.
_REPEATABLE_POSTS = re.compile(r"(/api)?/graphql|/app/installations/\d+/access_tokens|/repos/.+/(labels|reactions)")


@dataclass(frozen=True, slots=True)
class Cost:
    """`resource` is the name of the primary limit (as in `x-ratelimit-resource`); `amounts` what is paid where."""

    resource: str
    amounts: Mapping[str, int]


def cost_of(method: str, path: str, query: Mapping[str, str], body: bytes = b"") -> Cost:
    """What one request costs. `path` is without the base path of an Enterprise server.

    `body` matters for GraphQL alone, whose path and method do not tell reading from writing.
    """
    if path in ("/graphql", "/api/graphql"):
        return Cost(GRAPHQL, {GRAPHQL: 1, GRAPHQL_POINTS: _WRITE_POINTS if _changes(body) else 1})
    if path.startswith("/search/"):
        resource = HYBRID if query.get("search_type") in ("semantic", "hybrid") else SEARCH
        return Cost(resource, {resource: 1, POINTS: 1})
    if method in ("GET", "HEAD", "OPTIONS"):
        return Cost(CORE, {CORE: 1, POINTS: 1})
    if path.endswith("/access_tokens"):
        # The App asks for tokens, and out of its own budget, although it does so for an installation.
        return Cost(APP, {})
    if method == "DELETE" or path.startswith("/app/"):
        # A redelivery, say, is a write, and puts nothing before people's eyes.
        return Cost(CORE, {CORE: 1, POINTS: _WRITE_POINTS})
    return Cost(CORE, {CORE: 1, POINTS: _WRITE_POINTS, CONTENT: 1})


def _changes(body: bytes) -> bool:
    """Whether a GraphQL request is a mutation; our own say so with their first word."""
    return str(json.loads(body)["query"]).startswith("mutation") if body else False


def kind_of(method: str, cost: Cost) -> str:
    """What a request is, in a word: the limit that it counts for, and for the great rest reading or writing."""
    if cost.resource != CORE:
        return cost.resource
    return "read" if method in ("GET", "HEAD", "OPTIONS") else "write"


def is_repeatable(method: str, path: str) -> bool:
    """Whether doing it twice leaves GitHub as doing it once; only then may it be repeated after a time-out."""
    return method != "POST" or bool(_REPEATABLE_POSTS.fullmatch(path))
