"""G: what each request costs."""

from __future__ import annotations

import pytest

from bot.github.limits.costs import cost_of, is_repeatable


@pytest.mark.parametrize(
    ("method", "path", "query", "resource", "amounts"),
    [
        ("GET", "/repos/a/b/issues/1", {}, "core", {"core": 1, "points": 1}),
        ("GET", "/search/issues", {"q": "x"}, "search", {"search": 1, "points": 1}),
        ("GET", "/search/issues", {"search_type": "hybrid"}, "semantic_search", {"semantic_search": 1, "points": 1}),
        ("POST", "/graphql", {}, "graphql", {"graphql": 1, "graphql_points": 1}),
        ("POST", "/api/graphql", {}, "graphql", {"graphql": 1, "graphql_points": 1}),
        ("POST", "/repos/a/b/issues/1/comments", {}, "core", {"core": 1, "points": 5, "content": 1}),
        ("PATCH", "/repos/a/b/issues/1", {}, "core", {"core": 1, "points": 5, "content": 1}),
        ("DELETE", "/repos/a/b/issues/comments/1", {}, "core", {"core": 1, "points": 5}),
        ("POST", "/app/installations/1/access_tokens", {}, "app", {}),
        ("POST", "/app/hook/deliveries/1/attempts", {}, "core", {"core": 1, "points": 5}),
        # A repository may be called as it likes.
        ("GET", "/repos/search/issues", {}, "core", {"core": 1, "points": 1}),
        ("GET", "/repos/a/graphql", {}, "core", {"core": 1, "points": 1}),
    ],
)
def test_g_costs(method: str, path: str, query: dict[str, str], resource: str, amounts: dict[str, int]) -> None:
    cost = cost_of(method, path, query)
    assert (cost.resource, dict(cost.amounts)) == (resource, amounts)


@pytest.mark.parametrize(
    ("body", "points"),
    [(b'{"query": "query Votes { mutation }"}', 1), (b'{"query":"mutation Fold { a }"}', 5)],
)
def test_g_a_mutation_of_graphqls_costs_as_much_as_a_write(body: bytes, points: int) -> None:
    assert cost_of("POST", "/graphql", {}, body).amounts == {"graphql": 1, "graphql_points": points}


@pytest.mark.parametrize(
    ("method", "path", "repeatable"),
    [
        ("GET", "/repos/a/b", True),
        ("PATCH", "/repos/a/b/issues/comments/1", True),
        ("DELETE", "/repos/a/b/issues/1/labels/x", True),
        ("POST", "/graphql", True),
        ("POST", "/api/graphql", True),
        ("POST", "/app/installations/12/access_tokens", True),
        ("POST", "/repos/a/b/issues/1/labels", True),
        ("POST", "/repos/a/b/issues/comments/1/reactions", True),
        ("POST", "/repos/a/b/issues/1/comments", False),
        ("POST", "/repos/a/labels/issues/1/comments", False),
        ("POST", "/app/hook/deliveries/3/attempts", False),
    ],
)
def test_only_what_does_no_harm_twice_is_repeatable(method: str, path: str, repeatable: bool) -> None:
    assert is_repeatable(method, path) is repeatable
