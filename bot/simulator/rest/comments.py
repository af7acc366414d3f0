"""Comments on issues (https://docs.github.com/rest/issues/comments)."""

from __future__ import annotations

from bot.simulator.access import role_of
from bot.simulator.callers import InstallationCaller
from bot.simulator.clock import read_iso
from bot.simulator.errors import invalid
from bot.simulator.http.context import Context
from bot.simulator.http.operation import READ_ISSUES, WRITE_ISSUES
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.issues import comment as comment_payload
from bot.simulator.state.issues import Comment
from bot.simulator.state.repositories import at_least

ROUTES = Routes()

_COMMENT_PATH = "/repos/<owner>/<repo>/issues/comments/<int:comment_id>"
_ISSUE_COMMENTS_PATH = "/repos/<owner>/<repo>/issues/<int:number>/comments"


@ROUTES.add("GET", _ISSUE_COMMENTS_PATH, permissions=READ_ISSUES, model="[IssueComment]")
def list_of_issue(ctx: Context) -> Reply:
    """An issue's comments, oldest first."""
    since = read_iso(ctx.query.get("since"))
    matches = [entry for entry in ctx.issue().comments if since is None or entry.updated_at >= since]
    return ctx.page(matches, lambda entry: comment_payload(ctx.sim, entry))


@ROUTES.add("GET", "/repos/<owner>/<repo>/issues/comments", permissions=READ_ISSUES, model="[IssueComment]")
def list_of_repository(ctx: Context) -> Reply:
    """All comments of a repository, oldest first unless asked otherwise."""
    repo = ctx.repository()
    since = read_iso(ctx.query.get("since"))
    matches = [
        entry
        for entry in ctx.sim.comments_by_id.values()
        if entry.issue.repository is repo and (since is None or entry.updated_at >= since)
    ]
    by_update = ctx.query.get("sort") == "updated"
    matches.sort(
        key=lambda entry: (entry.updated_at if by_update else entry.created_at, entry.id),
        reverse=ctx.query.get("direction") == "desc",
    )
    return ctx.page(matches, lambda entry: comment_payload(ctx.sim, entry))


@ROUTES.add("GET", _COMMENT_PATH, permissions=READ_ISSUES, model="IssueComment")
def get_comment(ctx: Context) -> Json:
    """One comment."""
    return comment_payload(ctx.sim, ctx.comment())


@ROUTES.add(
    "POST",
    _ISSUE_COMMENTS_PATH,
    permissions=WRITE_ISSUES,
    model="IssueComment",
    request="ReposOwnerRepoIssuesIssueNumberCommentsPostBody",
    creates=True,
)
def create_comment(ctx: Context) -> Reply:
    """Comment on an issue."""
    target = ctx.issue()
    created = ctx.sim.comment(target.repository, target.number, ctx.actor, _text(ctx))
    shown = comment_payload(ctx.sim, created)
    return Reply(shown, 201, {"Location": shown["url"]})


@ROUTES.add(
    "PATCH",
    _COMMENT_PATH,
    permissions=WRITE_ISSUES,
    model="IssueComment",
    request="ReposOwnerRepoIssuesCommentsCommentIdPatchBody",
)
def update_comment(ctx: Context) -> Json:
    """Change a comment. People without write access may change only their own."""
    target = ctx.comment()
    _require_rights(ctx, target)
    return comment_payload(ctx.sim, ctx.sim.edit_comment(target, _text(ctx), ctx.actor))


@ROUTES.add("DELETE", _COMMENT_PATH, permissions=WRITE_ISSUES)
def delete_comment(ctx: Context) -> Reply:
    """Delete a comment; the rights are as in `update_comment`."""
    target = ctx.comment()
    _require_rights(ctx, target)
    ctx.sim.delete_comment(target, ctx.actor)
    return Reply(None, 204)


def _text(ctx: Context) -> str:
    text = ctx.data.get("body")
    if not isinstance(text, str):
        raise invalid("IssueComment", "body", "missing_field")
    return text


def _require_rights(ctx: Context, target: Comment) -> None:
    """Refuse a person without write access, unless the person wrote the comment."""
    if target.author is ctx.actor or isinstance(ctx.caller, InstallationCaller):
        return
    if not at_least(role_of(ctx.sim, ctx.caller, target.issue.repository), "write"):
        raise ctx.lacks_role()
