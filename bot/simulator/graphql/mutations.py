"""Mutations. They send the same events as REST. Only a mutation can hide a comment. An App needs `issues: write`."""

from __future__ import annotations

from typing import Any

from bot.simulator.access import app_may, can_see, role_of
from bot.simulator.callers import InstallationCaller
from bot.simulator.errors import ApiError
from bot.simulator.graphql.connections import cursor
from bot.simulator.graphql.errors import Refusal, inaccessible, unresolved
from bot.simulator.graphql.table import Info, Resolvers
from bot.simulator.http.context import Context
from bot.simulator.state.issues import Comment, Issue, StateReason
from bot.simulator.state.repositories import Role, at_least

RESOLVERS = Resolvers()

Input = dict[str, Any]
Payload = dict[str, Any]
_REASONS: dict[str, StateReason] = {"COMPLETED": "completed", "NOT_PLANNED": "not_planned", "DUPLICATE": "duplicate"}


@RESOLVERS.add("Mutation.addComment")
def add_comment(_: Any, info: Info, input: Input) -> Payload:
    ctx, subject = _writable_issue(info, input["subjectId"], "read")
    try:
        # Count this towards the limit for creating content.
        ctx.sim.limits.create(ctx.caller.key)
        created = ctx.sim.comment(subject.repository, subject.number, ctx.actor, input["body"])
    except ApiError as error:
        raise Refusal("UNPROCESSABLE" if error.status == 422 else "FORBIDDEN", error.message) from error
    edge = {"cursor": cursor(len(subject.comments)), "node": created}
    return _payload(input, commentEdge=edge, subject=subject)


@RESOLVERS.add("Mutation.closeIssue")
def close_issue(_: Any, info: Info, input: Input) -> Payload:
    ctx, subject = _writable_issue(info, input["issueId"], "triage")
    reason = _REASONS[input.get("stateReason") or "COMPLETED"]
    original = None
    if reason == "duplicate" and input.get("duplicateIssueId"):
        original = _visible_issue(ctx, input["duplicateIssueId"])
        if original is subject:
            raise Refusal("UNPROCESSABLE", "An issue cannot be a duplicate of itself.")
    ctx.sim.close_issue(subject.repository, subject.number, ctx.actor, reason, original)
    return _payload(input, issue=subject)


@RESOLVERS.add("Mutation.reopenIssue")
def reopen_issue(_: Any, info: Info, input: Input) -> Payload:
    ctx, subject = _writable_issue(info, input["issueId"], "triage")
    ctx.sim.reopen_issue(subject.repository, subject.number, ctx.actor)
    return _payload(input, issue=subject)


@RESOLVERS.add("Mutation.minimizeComment")
def minimize_comment(_: Any, info: Info, input: Input) -> Payload:
    return _payload(input, minimizedComment=_minimize(info, input["subjectId"], input["classifier"]))


@RESOLVERS.add("Mutation.unminimizeComment")
def unminimize_comment(_: Any, info: Info, input: Input) -> Payload:
    return _payload(input, unminimizedComment=_minimize(info, input["subjectId"], None))


def _minimize(info: Info, key: str, reason: str | None) -> Comment:
    """Hide the comment with the node id `key`. `reason` says why; None shows the comment again."""
    ctx = info.context
    record = ctx.sim.nodes.get(key)
    if not isinstance(record, Comment):
        raise unresolved("a node", by="global id of", value=f"'{key}'")  # "Could not resolve to a node with …"
    _require_write(ctx, record.issue, "triage", key)
    record.minimized = reason
    return record


def _writable_issue(info: Info, key: str, role: Role) -> tuple[Context, Issue]:
    ctx = info.context
    target = _visible_issue(ctx, key)
    _require_write(ctx, target, role, key)
    return ctx, target


def _visible_issue(ctx: Context, key: str) -> Issue:
    """The issue with this node id, if the caller may see it."""
    record = ctx.sim.nodes.get(key)
    if not isinstance(record, Issue) or not can_see(ctx.sim, ctx.caller, record.repository):
        raise unresolved("a node", by="global id of", value=f"'{key}'")
    return record


def _require_write(ctx: Context, issue: Issue, role: Role, key: str) -> None:
    """Refuse Apps without permission, people without `role` (except the issue's author), and archived repositories."""
    repo, caller = issue.repository, ctx.caller
    if not can_see(ctx.sim, caller, repo):
        raise unresolved("a node", by="global id of", value=f"'{key}'")
    if repo.archived:
        raise Refusal("UNPROCESSABLE", "Repository was archived so is read-only.")
    if not app_may(ctx.sim, caller, repo, (("issues", "write"),), writes=True):
        raise inaccessible()
    if isinstance(caller, InstallationCaller):
        return
    if not at_least(role_of(ctx.sim, caller, repo), role) and issue.author is not caller.account:
        login = ctx.actor.login
        raise Refusal("FORBIDDEN", f"{login} does not have the correct permissions to execute this mutation")


def _payload(input: Input, **fields: Any) -> Payload:
    return {"clientMutationId": input.get("clientMutationId"), **fields}
