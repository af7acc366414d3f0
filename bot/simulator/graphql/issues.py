"""`Issue`, and the fields that `PullRequest` and `IssueComment` share with it."""

from __future__ import annotations

from typing import Any

from bot.simulator.access import visible_issue
from bot.simulator.graphql.connections import connection
from bot.simulator.graphql.table import Info, Resolvers
from bot.simulator.payloads.issues import issue_page
from bot.simulator.state.association import author_association
from bot.simulator.state.issues import Comment, Issue

RESOLVERS = Resolvers()

_ISSUES = ("Issue", "PullRequest")


@RESOLVERS.add(*(f"{kind}.url" for kind in _ISSUES))
def issue_url(source: Issue, info: Info) -> str:
    return issue_page(info.context.sim, source)


@RESOLVERS.add("Issue.body", "Issue.bodyText", "PullRequest.body")
def body(source: Issue, info: Info) -> str:
    return source.body or ""


@RESOLVERS.add(*(f"{kind}.state" for kind in _ISSUES))
def state(source: Issue, info: Info) -> str:
    return "MERGED" if source.merged_at else source.state.upper()


@RESOLVERS.add(*(f"{kind}.closed" for kind in _ISSUES))
def closed(source: Issue, info: Info) -> bool:
    return source.state == "closed"


@RESOLVERS.add("Issue.stateReason")
def state_reason(source: Issue, info: Info, **args: Any) -> str | None:
    # Without `enableDuplicate`, GitHub calls a duplicate "not planned".
    if source.state_reason == "duplicate" and not args.get("enableDuplicate"):
        return "NOT_PLANNED"
    return source.state_reason.upper() if source.state_reason else None


@RESOLVERS.add("Issue.duplicateOf")
def duplicate_of(source: Issue, info: Info) -> Issue | None:
    ctx, original = info.context, source.duplicate_of
    # A comment can mark an issue as a duplicate without closing it. The field is null for such an issue.
    if source.state_reason != "duplicate" or original is None:
        return None
    return visible_issue(ctx.sim, ctx.caller, original)


@RESOLVERS.add(*(f"{kind}.milestone" for kind in _ISSUES))
def milestone(source: Issue, info: Info) -> dict[str, str] | None:
    return {"title": source.milestone} if source.milestone else None


@RESOLVERS.add("Issue.activeLockReason")
def lock_reason(source: Issue, info: Info) -> str | None:
    return source.lock_reason.upper().replace("-", "_").replace(" ", "_") if source.lock_reason else None


@RESOLVERS.add("Issue.labels", "PullRequest.labels")
def issue_labels(source: Issue, info: Info, **args: Any) -> dict[str, Any]:
    return connection("labels", source.labels, args)


@RESOLVERS.add("Issue.comments", "PullRequest.comments")
def comments(source: Issue, info: Info, **args: Any) -> dict[str, Any]:
    return connection("comments", source.comments, args)


@RESOLVERS.add(*(f"{kind}.authorAssociation" for kind in (*_ISSUES, "IssueComment")))
def association(source: Issue | Comment, info: Info) -> str:
    home = source.issue if isinstance(source, Comment) else source
    return author_association(home.repository, source.author)


@RESOLVERS.add(*(f"{kind}.viewerDidAuthor" for kind in (*_ISSUES, "IssueComment")))
def viewer_did_author(source: Issue | Comment, info: Info) -> bool:
    return source.author is info.context.caller.account
