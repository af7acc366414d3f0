"""Controls for people and scripts, under `/_sim/`: not part of GitHub.

Limits and faults do not apply to these calls, so a script can always remove a fault. A call needs the header
`X-Simulator-Key` with the App's webhook secret. The header also keeps web pages out: a browser lets a page send this
header only to sites that allow it (CORS).
"""

from __future__ import annotations

import hmac
from typing import Any

from bot.simulator.errors import ApiError, forbidden
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.issues import comment, full_issue, issue_page
from bot.simulator.state.repositories import Repository

ROUTES = Routes()


@ROUTES.add("GET", "/_sim/state")
def state(ctx: Context) -> Json:
    """The clock, lists of what went wrong, and each repository's latest issues with comments (`?issues=N`, else 50)."""
    _guard(ctx)
    most = ctx.number("issues", 50)
    return {
        "now": ctx.sim.clock.now().isoformat(),
        "repositories": [_repository_json(ctx, repo, most) for repo in ctx.sim.repositories.values()],
        "deliveries": len(ctx.sim.webhooks.log),
        "unknown_requests": list(ctx.sim.unknown_requests),
        "violations": list(ctx.sim.violations),
    }


@ROUTES.add("POST", "/_sim/issues")
def open_issue(ctx: Context) -> Reply:
    """Open an issue as anybody: `{repository, author, title, body, labels}`."""
    _guard(ctx)
    body = None if ctx.data.get("body") is None else _text(ctx, "body")
    labels = ctx.data.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(name, str) for name in labels):
        raise ApiError(422, "labels must be a list of names")
    created = ctx.sim.open_issue(_repository(ctx), _text(ctx, "author", "somebody"), _text(ctx, "title"), body, labels)
    return Reply(full_issue(ctx.sim, created), 201)


@ROUTES.add("POST", "/_sim/comments")
def add_comment(ctx: Context) -> Reply:
    """Comment as anybody: `{repository, number, author, body}`."""
    _guard(ctx)
    try:
        target = ctx.sim.issue(_repository(ctx), int(ctx.data.get("number", "")))
    except KeyError as error:
        raise ApiError(404, str(error)) from None
    except (TypeError, ValueError):
        raise ApiError(422, "number must be that of an issue") from None
    created = ctx.sim.comment(target.repository, target.number, _text(ctx, "author", "somebody"), _text(ctx, "body"))
    return Reply(comment(ctx.sim, created), 201)


@ROUTES.add("POST", "/_sim/faults")
def add_fault(ctx: Context) -> Reply:
    """Make requests fail: the body has the arguments of `Faults.add`."""
    _guard(ctx)
    try:
        ctx.sim.faults.add(**ctx.data)
    except (TypeError, ValueError) as error:
        raise ApiError(422, str(error)) from None
    return Reply({}, 201)


@ROUTES.add("DELETE", "/_sim/faults")
def clear_faults(ctx: Context) -> Reply:
    """Let everything work again."""
    _guard(ctx)
    ctx.sim.faults.clear()
    return Reply(None, 204)


@ROUTES.add("POST", "/_sim/similarity")
def set_similarity(ctx: Context) -> Json:
    """Choose how a repository answers requests for similar issues: `{repository, answers}`, see `Similarity`."""
    _guard(ctx)
    answers: Any = ctx.data.get("answers")
    try:
        ctx.sim.set_similarity(_repository(ctx), answers)
    except ValueError as error:
        raise ApiError(422, str(error)) from None
    return {"answers": answers}


@ROUTES.add("POST", "/_sim/clock")
def advance(ctx: Context) -> Json:
    """Move the clock: `{"advance": SECONDS}`."""
    _guard(ctx)
    try:
        ctx.sim.clock.advance(float(ctx.data.get("advance", "")))
    except (TypeError, ValueError, OverflowError):
        raise ApiError(422, "advance must be a number of seconds, within the calendar") from None
    return {"now": ctx.sim.clock.now().isoformat()}


def _guard(ctx: Context) -> None:
    key = ctx.headers.get("X-Simulator-Key", "")
    if not hmac.compare_digest(key.encode(), ctx.sim.app.hook.secret.encode()):
        raise forbidden("X-Simulator-Key must be the App's webhook secret")


def _text(ctx: Context, name: str, default: str | None = None) -> str:
    """A text field of the body; 422 for any other value."""
    value = ctx.data.get(name, default)
    if not isinstance(value, str):
        raise ApiError(422, f"{name} must be a text")
    return value


def _repository(ctx: Context) -> Repository:
    try:
        return ctx.sim.repository(str(ctx.data.get("repository")))
    except KeyError as error:
        raise ApiError(404, str(error)) from None


def _repository_json(ctx: Context, repo: Repository, most: int) -> Json:
    latest = sorted(ctx.sim.issues_of(repo), key=lambda entry: -entry.number)[:most]
    issues: list[dict[str, Any]] = [
        {
            "number": entry.number,
            "title": entry.title,
            "state": entry.state,
            "state_reason": entry.state_reason,
            "author": entry.author.login,
            "labels": [label.name for label in entry.labels],
            "url": issue_page(ctx.sim, entry),
            "comments": [{"author": one.author.login, "body": one.body, "id": one.id} for one in entry.comments],
        }
        for entry in latest
    ]
    return {"full_name": repo.full_name, "private": repo.private, "archived": repo.archived, "issues": issues}
