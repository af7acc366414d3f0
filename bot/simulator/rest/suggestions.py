"""Labels and closings suggested to maintainers (https://docs.github.com/rest/issues/issues#list-issue-suggestions)."""

from __future__ import annotations

from typing import Any

from bot.simulator.errors import invalid, not_found
from bot.simulator.http.context import Context
from bot.simulator.http.operation import READ_ISSUES, WRITE_ISSUES
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.issues import suggestion
from bot.simulator.state.issues import Issue

ROUTES = Routes()

_OF_ISSUE = "/repos/<owner>/<repo>/issues/<int:number>/suggestions"
_STATES = ("pending", "applied", "approved", "dismissed", "replaced", "invalidated", "all")
# The first version of the API with suggestions. A client has to ask for it.
VERSION = "2026-03-10"


@ROUTES.add("GET", _OF_ISSUE, permissions=READ_ISSUES, role="triage", model="[IssueSuggestion]")
def list_suggestions(ctx: Context) -> Reply:
    """The suggestions on an issue; 404 for a pull request, and if the repository lacks the feature."""
    target = _issue(ctx)
    state = ctx.word("state", "pending", _STATES)
    chosen = [entry for entry in target.suggestions if state in ("all", entry.state)]
    if action := ctx.query.get("action"):
        chosen = [entry for entry in chosen if action == ("add_label" if entry.label else "close_issue")]
    return ctx.page(chosen, lambda entry: suggestion(entry, target))


@ROUTES.add(
    "POST", f"{_OF_ISSUE}/<int:suggestion_id>/approve", permissions=WRITE_ISSUES, role="triage", model="IssueSuggestion"
)
def approve(ctx: Context) -> Json:
    """Carry out the suggestion."""
    return _resolve(ctx, approve=True)


@ROUTES.add(
    "POST", f"{_OF_ISSUE}/<int:suggestion_id>/dismiss", permissions=WRITE_ISSUES, role="triage", model="IssueSuggestion"
)
def dismiss(ctx: Context) -> Json:
    """Drop the suggestion."""
    return _resolve(ctx, approve=False)


def split(ctx: Context, target: Issue, labels: list[Any]) -> tuple[list[str], list[Json]]:
    """Store a request's suggested labels. Return the other labels' names, and the suggestions.

    If the repository lacks the feature, or the client uses an older API version, no label counts as suggested.
    """
    enabled = target.repository.suggestions and ctx.headers.get("X-GitHub-Api-Version") == VERSION
    names: list[str] = []
    suggestions: list[Json] = []
    suggested = [one for one in labels if enabled and isinstance(one, dict) and one.get("suggest")]
    # Check every suggestion before any is stored.
    for confidence in [one.get("confidence") for one in suggested]:
        if confidence not in (None, "low", "medium", "high"):
            raise invalid("Issue", "confidence", "invalid", value=confidence)
    for entry in labels:
        name = entry if isinstance(entry, str) else str(entry.get("name", ""))
        if isinstance(entry, str) or not enabled or not entry.get("suggest"):
            names.append(name)
            continue
        stored = ctx.sim.suggest_label(target, name, ctx.actor, entry.get("rationale"), entry.get("confidence"))
        shown = {key: value for key, value in entry.items() if key in ("name", "rationale", "suggest", "confidence")}
        suggestions.append(shown if stored else shown | {"ignored": True, "ignored_reason": "already_applied"})
    return names, suggestions


def store_suggested_closing(ctx: Context, target: Issue, state: dict[str, Any]) -> bool:
    """If the request's `state` object is a suggestion, store the suggestion and return True.

    Only closing as a duplicate can be suggested; other suggestions get 422. If the repository lacks
    the feature, nothing is stored, but the answer is 200, as on GitHub.
    """
    if not state.get("suggest"):
        return False
    original = ctx.sim.issues_by_id.get(ctx.data.get("duplicate_issue_id") or 0)
    closes_as_duplicate = state.get("value") == "closed" and ctx.data.get("state_reason") == "duplicate"
    if not closes_as_duplicate or original is None or original is target:
        raise invalid("Issue", "state", "invalid", value=state)
    if target.repository.suggestions:
        ctx.sim.suggest_closing(target, original, ctx.actor, state.get("rationale"), state.get("confidence"))
    return True


def _issue(ctx: Context) -> Issue:
    target = ctx.issue()
    if not target.repository.suggestions or target.is_pull_request:
        raise not_found()
    return target


def _resolve(ctx: Context, *, approve: bool) -> Json:
    target = _issue(ctx)
    key = ctx.params["suggestion_id"]
    if all(entry.id != key for entry in target.suggestions):
        raise not_found()
    return suggestion(ctx.sim.resolve_suggestion(target, key, approve, ctx.actor), target)
