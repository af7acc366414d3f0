"""Reactions to issues and comments (https://docs.github.com/rest/reactions/reactions)."""

from __future__ import annotations

from bot.simulator.callers import InstallationCaller
from bot.simulator.errors import not_found
from bot.simulator.http.context import Context
from bot.simulator.http.operation import READ_ISSUES, WRITE_ISSUES
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads.issues import reaction
from bot.simulator.state.issues import Comment, Issue

ROUTES = Routes()

_ISSUE = "/repos/<owner>/<repo>/issues/<int:number>/reactions"
_COMMENT = "/repos/<owner>/<repo>/issues/comments/<int:comment_id>/reactions"


@ROUTES.add("GET", _ISSUE, permissions=READ_ISSUES, model="[Reaction]")
def list_of_issue(ctx: Context) -> Reply:
    """The reactions to an issue."""
    return _list(ctx, ctx.issue())


@ROUTES.add("GET", _COMMENT, permissions=READ_ISSUES, model="[Reaction]")
def list_of_comment(ctx: Context) -> Reply:
    """The reactions to a comment."""
    return _list(ctx, ctx.comment())


@ROUTES.add(
    "POST",
    _ISSUE,
    permissions=WRITE_ISSUES,
    model="Reaction",
    request="ReposOwnerRepoIssuesIssueNumberReactionsPostBody",
)
def react_to_issue(ctx: Context) -> Reply:
    """React to an issue: 201, or 200 if the reaction exists already."""
    return _react(ctx, ctx.issue())


@ROUTES.add(
    "POST",
    _COMMENT,
    permissions=WRITE_ISSUES,
    model="Reaction",
    request="ReposOwnerRepoIssuesCommentsCommentIdReactionsPostBody",
)
def react_to_comment(ctx: Context) -> Reply:
    """React to a comment: 201, or 200 if the reaction exists already."""
    return _react(ctx, ctx.comment())


@ROUTES.add("DELETE", f"{_ISSUE}/<int:reaction_id>", permissions=WRITE_ISSUES)
def unreact_to_issue(ctx: Context) -> Reply:
    """Take back a reaction to an issue."""
    return _unreact(ctx, ctx.issue())


@ROUTES.add("DELETE", f"{_COMMENT}/<int:reaction_id>", permissions=WRITE_ISSUES)
def unreact_to_comment(ctx: Context) -> Reply:
    """Take back a reaction to a comment."""
    return _unreact(ctx, ctx.comment())


def _list(ctx: Context, subject: Issue | Comment) -> Reply:
    content = ctx.query.get("content")
    chosen = [entry for entry in subject.reactions if content is None or entry.content == content]
    return ctx.page(chosen, lambda entry: reaction(ctx.sim, entry))


def _react(ctx: Context, subject: Issue | Comment) -> Reply:
    record, new = ctx.sim.react(subject, ctx.actor, str(ctx.data.get("content")))
    return Reply(reaction(ctx.sim, record), 201 if new else 200)


def _unreact(ctx: Context, subject: Issue | Comment) -> Reply:
    key = ctx.params["reaction_id"]
    target = next((entry for entry in subject.reactions if entry.id == key), None)
    if target is None:
        raise not_found()
    # A person may take back only their own reaction.
    if target.user is not ctx.actor and not isinstance(ctx.caller, InstallationCaller):
        raise ctx.lacks_role()
    ctx.sim.unreact(subject, key)
    return Reply(None, 204)
