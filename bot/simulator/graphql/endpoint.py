"""`POST /graphql` (https://docs.github.com/graphql/guides/forming-calls-with-graphql)."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLAbstractType,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from bot.simulator.callers import Anonymous, AppCaller
from bot.simulator.errors import ApiError, unauthorized
from bot.simulator.graphql import (
    comments,
    discussions,
    issues,
    mutations,
    nodes,
    projects,
    queries,
    repositories,
    timeline,
)
from bot.simulator.graphql.errors import formatted
from bot.simulator.graphql.table import Info, default, kind_of
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes

ROUTES = Routes()
_TABLES = (queries, repositories, issues, comments, timeline, discussions, projects, nodes, mutations)


@cache
def schema() -> GraphQLSchema:
    """The schema with its resolvers. Fails if a resolver belongs to no field of the schema."""
    result = build_schema(Path(__file__).with_name("schema.graphql").read_text(encoding="utf-8"))
    for table in _TABLES:
        for (kind, name), resolver in table.RESOLVERS.items():
            owner = result.type_map[kind]
            assert isinstance(owner, GraphQLObjectType), kind
            owner.fields[name].resolve = resolver
    return result


@lru_cache(maxsize=256)
def _parse(query: str) -> DocumentNode | list[GraphQLError]:
    """The parsed query, or its errors. Cached, since parsing and validating take longer than running the query."""
    try:
        document = parse(query)
    except GraphQLError as error:
        return [error]
    return validate(schema(), document) or document


def _type(value: Any, _info: Info, _abstract: GraphQLAbstractType) -> str:
    return kind_of(value)


@ROUTES.add("POST", "/graphql", resource="graphql")
def graphql(ctx: Context) -> Reply:
    """Run a query or mutation. If it fails, the answer still has status 200, and says why under `errors`."""
    if isinstance(ctx.caller, Anonymous | AppCaller):
        raise unauthorized("This endpoint requires you to be authenticated.")
    data = ctx.data
    if not isinstance(data.get("query"), str):
        raise ApiError(400, "A query attribute must be specified and must be a string.")
    variables = data.get("variables") or {}
    if not isinstance(variables, dict):
        raise ApiError(400, "Variables must be an object.")
    result = _run(ctx, data["query"], variables, data.get("operationName"))
    body: dict[str, Any] = {}
    if result.data is not None:
        body["data"] = result.data
    if result.errors:
        body["errors"] = [formatted(error) for error in result.errors]
        body.setdefault("data", None)
    return Reply(body)


def _run(ctx: Context, query: str, variables: dict[str, Any], operation: str | None) -> ExecutionResult:
    document = _parse(query)
    if isinstance(document, list):
        return ExecutionResult(None, document)
    return execute_sync(
        schema(),
        document,
        context_value=ctx,
        variable_values=variables,
        operation_name=operation,
        field_resolver=default,
        type_resolver=_type,
    )
