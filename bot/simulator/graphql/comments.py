"""`IssueComment`, and the reactions to comments and issues."""

from __future__ import annotations

from typing import Any

from bot.simulator.graphql.connections import connection
from bot.simulator.graphql.table import Info, Resolvers
from bot.simulator.payloads.issues import issue_page
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import REACTIONS, Comment, Issue, Reaction

RESOLVERS = Resolvers()

# The GraphQL name (ReactionContent) of each reaction, by its REST name.
_CONTENT = {
    "+1": "THUMBS_UP",
    "-1": "THUMBS_DOWN",
    "laugh": "LAUGH",
    "confused": "CONFUSED",
    "heart": "HEART",
    "hooray": "HOORAY",
    "rocket": "ROCKET",
    "eyes": "EYES",
}


@RESOLVERS.add("IssueComment.url")
def comment_url(source: Comment, info: Info) -> str:
    return f"{issue_page(info.context.sim, source.issue)}#issuecomment-{source.id}"


@RESOLVERS.add("IssueComment.isMinimized")
def is_minimized(source: Comment, info: Info) -> bool:
    return source.minimized is not None


@RESOLVERS.add("IssueComment.minimizedReason")
def minimized_reason(source: Comment, info: Info) -> str | None:
    return source.minimized.lower().replace("_", "-") if source.minimized else None


@RESOLVERS.add("Issue.reactionGroups", "IssueComment.reactionGroups")
def reaction_groups(source: Issue | Comment, info: Info) -> list[dict[str, Any]]:
    ctx = info.context
    groups = []
    for content in REACTIONS:
        givers = [reaction.user for reaction in source.reactions if reaction.content == content]
        users = {"totalCount": len(givers)}
        mine = ctx.caller.account in givers
        groups.append({"content": _CONTENT[content], "reactors": users, "users": users, "viewerHasReacted": mine})
    return groups


@RESOLVERS.add("Issue.reactions", "IssueComment.reactions")
def reactions(source: Issue | Comment, info: Info, **args: Any) -> dict[str, Any]:
    wanted = args.get("content")
    reactions_of_kind = [one for one in source.reactions if wanted in (None, _CONTENT[one.content])]
    reactions_of_kind.sort(key=lambda one: (one.created_at, one.id))
    if (args.get("orderBy") or {}).get("direction") == "DESC":
        reactions_of_kind.reverse()
    mine = any(one.user is info.context.caller.account for one in source.reactions)
    return connection("reactions", reactions_of_kind, args) | {"viewerHasReacted": mine}


@RESOLVERS.add("Reaction.content")
def reaction_content(source: Reaction, info: Info) -> str:
    return _CONTENT[source.content]


@RESOLVERS.add("Reaction.user")
def reaction_user(source: Reaction, info: Info) -> Account | None:
    # The field's type is User, and an App's bot is not a User.
    return source.user if source.user.type == "User" else None
