"""Issues (https://docs.github.com/rest/issues/issues)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bot.simulator import validation
from bot.simulator.access import can_see, role_of
from bot.simulator.callers import UserCaller
from bot.simulator.clock import read_iso
from bot.simulator.errors import ApiError, invalid
from bot.simulator.http.context import Context
from bot.simulator.http.operation import READ_ISSUES, WRITE_ISSUES
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.operations.labels import check_label_names
from bot.simulator.payloads import Json
from bot.simulator.payloads.issues import full_issue, issue
from bot.simulator.rest import keyset, suggestions
from bot.simulator.state.issues import Issue, StateReason
from bot.simulator.state.repositories import at_least

ROUTES = Routes()

_SORTS: dict[str, Callable[[Issue], keyset.Key]] = {
    "created": lambda entry: (entry.created_at.timestamp(), entry.number),
    "updated": lambda entry: (entry.updated_at.timestamp(), entry.number),
    "comments": lambda entry: (len(entry.comments), entry.number),
}
_UNSUPPORTED = ("assignee", "assignees", "milestone", "type", "issue_field_values")
_REASONS = ("completed", "not_planned", "duplicate", "reopened")
# A closing with any other reason, or without a reason, is stored as completed.
_CLOSING: dict[str | None, StateReason] = {"not_planned": "not_planned", "duplicate": "duplicate"}


@ROUTES.add("GET", "/repos/<owner>/<repo>/issues", permissions=READ_ISSUES, model="[Issue]")
def list_issues(ctx: Context) -> Reply:
    """The repository's issues and pull requests, by default newest first."""
    repo = ctx.repository()
    ctx.unsupported(ctx.query, "milestone", "assignee", "mentioned", "type", "issue_field_values", "before")
    state = ctx.word("state", "open", ("open", "closed", "all"))
    sort = ctx.word("sort", "created", tuple(_SORTS))
    direction = ctx.word("direction", "desc", ("asc", "desc"))
    wanted = {name.lower() for name in ctx.query.get("labels", "").split(",") if name}
    creator = ctx.query.get("creator", "").lower()
    since = read_iso(ctx.query.get("since"))
    matches = [
        entry
        for entry in ctx.sim.issues_of(repo)
        if state in ("all", entry.state)
        and (not creator or entry.author.login.lower() == creator)
        and (since is None or entry.updated_at >= since)
        and (not wanted or wanted <= {label.name.lower() for label in entry.labels})
    ]
    return keyset.page(ctx, matches, _SORTS[sort], lambda entry: issue(ctx.sim, entry), down=direction == "desc")


@ROUTES.add("GET", "/repos/<owner>/<repo>/issues/<int:number>", permissions=READ_ISSUES, model="Issue")
def get_issue(ctx: Context) -> Json:
    """One issue."""
    return full_issue(ctx.sim, ctx.issue())


@ROUTES.add(
    "POST",
    "/repos/<owner>/<repo>/issues",
    permissions=(("issues", "write"),),
    model="Issue",
    request="ReposOwnerRepoIssuesPostBody",
    creates=True,
)
def create_issue(ctx: Context) -> Reply:
    """Open an issue. As on GitHub, labels are silently dropped if the person may not label."""
    repo, data = ctx.repository(), ctx.data
    ctx.unsupported(data, *_UNSUPPORTED)
    if data.get("title") is None:
        raise invalid("Issue", "title", "missing_field")
    labels = label_names(data.get("labels") or []) if _may_triage(ctx) else []
    created = ctx.sim.open_issue(repo, ctx.actor, str(data["title"]), data.get("body"), labels)
    headers = {"Location": f"{ctx.url}/{created.number}"}
    return Reply(full_issue(ctx.sim, created), 201, headers)


@ROUTES.add(
    "PATCH",
    "/repos/<owner>/<repo>/issues/<int:number>",
    permissions=WRITE_ISSUES,
    model="Issue",
)
def update_issue(ctx: Context) -> Json:
    """Change everything that the request names, or nothing.

    There is one exception: a suggestion to close the issue is stored even if the rest of the request is refused.
    `labels` replace the old ones. A person without triage access can change only their own issue, and the `labels` in
    their request are silently ignored.
    """
    target, data = ctx.issue(), ctx.data
    state = data.get("state")
    if isinstance(state, dict) and ctx.headers.get("X-GitHub-Api-Version") == suggestions.VERSION:
        # Here `state` is an object, but the model that validates the request accepts only a string. So replace the
        # object with its `value`, or drop `state` if the object is only a suggestion.
        only_suggested = suggestions.store_suggested_closing(ctx, target, state)
        value = None if only_suggested else state.get("value")
        data = {name: field for name, field in data.items() if name != "state"}
        data |= {} if value is None else {"state": value}
    problems = validation.problems("ReposOwnerRepoIssuesIssueNumberPatchBody", data) if ctx.sim.validate else []
    if problems:
        raise ApiError(
            422, "Invalid request.\n\n" + "; ".join(f"{field}: {problem}" for field, problem in problems[:3])
        )
    ctx.unsupported(data, *_UNSUPPORTED)
    triages = _may_triage(ctx)
    if not triages and target.author is not ctx.actor:
        raise ctx.lacks_role()
    change_state = _state_change(ctx, target, data)
    relabels = data.get("labels") is not None and triages
    if relabels:
        check_label_names(label_names(data["labels"]))
    repo = target.repository
    title = data.get("title")
    ctx.sim.edit_issue(
        repo,
        target.number,
        title=None if title is None else str(title),
        # Null in the request removes the issue's body. Without `body` in the request, the issue's body stays.
        body=(data["body"] or "") if "body" in data else None,
        actor=ctx.actor,
    )
    proposed: list[Json] = []
    if relabels:
        names, proposed = suggestions.split(ctx, target, data["labels"])
        ctx.sim.set_labels(target, names, ctx.actor)
    change_state()
    body = full_issue(ctx.sim, target)
    return body | ({"suggestions": {"labels": proposed}} if proposed else {})


def _state_change(ctx: Context, target: Issue, data: dict[str, Any]) -> Callable[[], object]:
    """Check the request's state now, and return a function that opens or closes the issue.

    A reason counts only with a state. `duplicate_issue_id` counts only with the reason `duplicate`. Closing a closed
    issue with another reason changes its reason (https://github.com/cli/cli/issues/14364).
    """
    state, reason = data.get("state"), data.get("state_reason")
    if state is None:
        return _nothing
    if state not in ("open", "closed"):
        raise invalid("Issue", "state", "invalid", value=state)
    if reason is not None and reason not in _REASONS:
        raise invalid("Issue", "state_reason", "invalid", value=reason)
    if state == "open":
        return partial(ctx.sim.reopen_issue, target.repository, target.number, ctx.actor)
    if target.state == "closed" and reason is None:
        return _nothing
    original = None
    if reason == "duplicate" and "duplicate_issue_id" in data:
        original = ctx.sim.issues_by_id.get(data["duplicate_issue_id"])
        if original is None or original is target or not can_see(ctx.sim, ctx.caller, original.repository):
            raise invalid("Issue", "duplicate_issue_id", "invalid", value=data["duplicate_issue_id"])
    why = _CLOSING.get(reason, "completed")
    return partial(ctx.sim.close_issue, target.repository, target.number, ctx.actor, why, original)


def _nothing() -> None:
    """Leave the state unchanged."""


@ROUTES.add(
    "PUT",
    "/repos/<owner>/<repo>/issues/<int:number>/lock",
    permissions=WRITE_ISSUES,
    role="write",
    request="ReposOwnerRepoIssuesIssueNumberLockPutBody",
)
def lock(ctx: Context) -> Reply:
    """Lock the conversation."""
    target = ctx.issue()
    reason = ctx.data.get("lock_reason")
    if reason not in (None, "off-topic", "too heated", "resolved", "spam"):
        raise invalid("Issue", "lock_reason", "invalid")
    ctx.sim.lock_issue(target.repository, target.number, ctx.actor, reason)
    return Reply(None, 204)


@ROUTES.add("DELETE", "/repos/<owner>/<repo>/issues/<int:number>/lock", permissions=WRITE_ISSUES, role="write")
def unlock(ctx: Context) -> Reply:
    """Unlock the conversation."""
    target = ctx.issue()
    ctx.sim.unlock_issue(target.repository, target.number, ctx.actor)
    return Reply(None, 204)


def label_names(labels: list[Any]) -> list[str]:
    """The names of labels, which may be strings or objects."""
    return [entry if isinstance(entry, str) else str(entry.get("name", "")) for entry in labels]


def _may_triage(ctx: Context) -> bool:
    """Whether the caller may label and close other people's issues. An App needs no role, only its permissions."""
    if not isinstance(ctx.caller, UserCaller):
        return True
    return at_least(role_of(ctx.sim, ctx.caller, ctx.repository()), "triage")
