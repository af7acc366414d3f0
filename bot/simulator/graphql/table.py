"""The table of resolvers, the default resolver, and the GraphQL type of a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from graphql import GraphQLResolveInfo

from bot.simulator.clock import iso
from bot.simulator.http.context import Context
from bot.simulator.state.accounts import Account
from bot.simulator.state.discussions import Discussion
from bot.simulator.state.issues import Comment, Issue
from bot.simulator.state.repositories import Label, Project, ProjectItem, Repository

Info = GraphQLResolveInfo[Context]
Resolver = Callable[..., Any]


class Resolvers(dict[tuple[str, str], Resolver]):
    """The resolvers of one file, by type and field."""

    def add(self, *names: str) -> Callable[[Resolver], Resolver]:
        """Register the decorated function as the resolver of each of these fields, named `Type.field`."""

        def register(resolver: Resolver) -> Resolver:
            for name in names:
                kind, _, key = name.partition(".")
                self[kind, key] = resolver
            return resolver

        return register


def default(source: Any, info: Info, **args: Any) -> Any:
    """Read a field that has no resolver: from a mapping by its name, else from the attribute in snake case."""
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
    # The values that are left belong to projects' fields. They are mappings without `__typename`.
    return "ProjectV2ItemFieldSingleSelectValue"
