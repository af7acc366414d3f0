"""The fields of accounts, and the ids of all records."""

from __future__ import annotations

from typing import Any

from bot.simulator.graphql.table import Info, Resolvers
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Comment, Issue

RESOLVERS = Resolvers()

_TYPES = (
    "Bot",
    "User",
    "Organization",
    "Label",
    "Repository",
    "Issue",
    "PullRequest",
    "IssueComment",
    "Discussion",
    "Reaction",
)
_PROJECTS = ("ProjectV2", "ProjectV2Item")


@RESOLVERS.add(*(f"{kind}.id" for kind in (*_TYPES, *_PROJECTS)))
def node_id(source: Any, info: Info) -> str:
    return str(source.node_id)


@RESOLVERS.add(*(f"{kind}.databaseId" for kind in (*_TYPES, *_PROJECTS) if kind != "Label"))
def database_id(source: Any, info: Info) -> int | None:
    # GraphQL's Int has 32 bits; GitHub answers null for larger ids. GitHub's `Label` lacks the field.
    return source.id if source.id < 2**31 else None


@RESOLVERS.add("Issue.fullDatabaseId", "PullRequest.fullDatabaseId", "IssueComment.fullDatabaseId")
def full_database_id(source: Issue | Comment, info: Info) -> str:
    return str(source.id)


@RESOLVERS.add("Bot.login")
def bot_login(source: Account, info: Info) -> str:
    # In GraphQL, a bot's login lacks the suffix that REST adds.
    return source.login.removesuffix("[bot]")


@RESOLVERS.add("Bot.url", "User.url", "Organization.url")
def account_url(source: Account, info: Info) -> str:
    page = f"apps/{source.login.removesuffix('[bot]')}" if source.type == "Bot" else source.login
    return f"{info.context.sim.urls.html}/{page}"
