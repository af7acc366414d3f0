"""Labels of repositories and issues (https://docs.github.com/rest/issues/labels)."""

from __future__ import annotations

from typing import Any

from bot.simulator.errors import ApiError, invalid, not_found
from bot.simulator.http.context import Context
from bot.simulator.http.operation import READ_ISSUES, WRITE_ISSUES
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.repositories import label
from bot.simulator.rest import suggestions
from bot.simulator.rest.issues import label_names
from bot.simulator.state.issues import Issue
from bot.simulator.state.repositories import Label, Repository

ROUTES = Routes()

_LABELS_PATH = "/repos/<owner>/<repo>/labels"
_PATH = "/repos/<owner>/<repo>/labels/<path:name>"
_ISSUE_LABELS_PATH = "/repos/<owner>/<repo>/issues/<int:number>/labels"
_ISSUE_LABEL_PATH = "/repos/<owner>/<repo>/issues/<int:number>/labels/<path:name>"


@ROUTES.add("GET", _LABELS_PATH, permissions=READ_ISSUES, model="[Label]")
def list_of_repository(ctx: Context) -> Reply:
    """The repository's labels."""
    repo = ctx.repository()
    return ctx.page(
        sorted(repo.labels.values(), key=lambda entry: entry.name), lambda entry: label(ctx.sim, repo, entry)
    )


@ROUTES.add(
    "POST",
    _LABELS_PATH,
    permissions=WRITE_ISSUES,
    role="write",
    model="Label",
    request="ReposOwnerRepoLabelsPostBody",
    creates=True,
)
def create(ctx: Context) -> Reply:
    """A new label."""
    repo, data = ctx.repository(), ctx.data
    if not data.get("name"):
        raise invalid("Label", "name", "missing_field")
    created = ctx.sim.create_label(repo, data["name"], data.get("color", "ededed"), data.get("description"), ctx.actor)
    return Reply(label(ctx.sim, repo, created), 201)


@ROUTES.add("GET", _PATH, permissions=READ_ISSUES, model="Label")
def get(ctx: Context) -> Json:
    """One label."""
    repo = ctx.repository()
    return label(ctx.sim, repo, _label(ctx, repo))


@ROUTES.add(
    "PATCH", _PATH, permissions=WRITE_ISSUES, role="write", model="Label", request="ReposOwnerRepoLabelsNamePatchBody"
)
def update(ctx: Context) -> Json:
    """Rename, recolour or describe a label."""
    repo, data = ctx.repository(), ctx.data
    target = _label(ctx, repo)
    changed = ctx.sim.edit_label(
        repo,
        target.name,
        new_name=data.get("new_name"),
        color=data.get("color"),
        description=data.get("description"),
        actor=ctx.actor,
    )
    return label(ctx.sim, repo, changed)


@ROUTES.add("DELETE", _PATH, permissions=WRITE_ISSUES, role="write")
def delete(ctx: Context) -> Reply:
    """Delete a label."""
    repo = ctx.repository()
    ctx.sim.delete_label(repo, _label(ctx, repo).name, ctx.actor)
    return Reply(None, 204)


@ROUTES.add("GET", _ISSUE_LABELS_PATH, permissions=READ_ISSUES, model="[Label]")
def list_of_issue(ctx: Context) -> Reply:
    """An issue's labels."""
    target = ctx.issue()
    return ctx.page(target.labels, lambda entry: label(ctx.sim, target.repository, entry))


@ROUTES.add("POST", _ISSUE_LABELS_PATH, permissions=WRITE_ISSUES, role="triage", model="[Label]")
def add(ctx: Context) -> list[Json]:
    """Add labels to the issue, except suggested labels (see `suggestions.split`)."""
    target = ctx.issue()
    names, _ = suggestions.split(ctx, target, _labels(ctx))
    ctx.sim.set_labels(target, [*(entry.name for entry in target.labels), *names], ctx.actor)
    return _shown(ctx, target)


@ROUTES.add("PUT", _ISSUE_LABELS_PATH, permissions=WRITE_ISSUES, role="triage", model="[Label]")
def replace(ctx: Context) -> list[Json]:
    """Give the issue exactly these labels."""
    target = ctx.issue()
    ctx.sim.set_labels(target, label_names(_labels(ctx)), ctx.actor)
    return _shown(ctx, target)


@ROUTES.add("DELETE", _ISSUE_LABELS_PATH, permissions=WRITE_ISSUES, role="triage")
def remove_all(ctx: Context) -> Reply:
    """Remove all labels from the issue."""
    ctx.sim.set_labels(ctx.issue(), [], ctx.actor)
    return Reply(None, 204)


@ROUTES.add("DELETE", _ISSUE_LABEL_PATH, permissions=WRITE_ISSUES, role="triage", model="[Label]")
def remove(ctx: Context) -> list[Json]:
    """Remove a label from the issue and show the rest; 404 if the issue does not have the label."""
    target = ctx.issue()
    name = ctx.params["name"].lower()
    if all(entry.name.lower() != name for entry in target.labels):
        raise ApiError(404, "Label does not exist")
    ctx.sim.remove_label(target.repository, target.number, name, ctx.actor)
    return _shown(ctx, target)


def _shown(ctx: Context, target: Issue) -> list[Json]:
    return [label(ctx.sim, target.repository, entry) for entry in target.labels]


def _label(ctx: Context, repo: Repository) -> Label:
    record = repo.labels.get(ctx.params["name"].lower())
    if record is None:
        raise not_found()
    return record


def _labels(ctx: Context) -> list[Any]:
    """The body's labels. The body is a list, or an object with `labels`. Each label must be a name or have a name."""
    labels = ctx.body if isinstance(ctx.body, list) else ctx.data.get("labels", [])
    if not isinstance(labels, list):
        raise invalid("Label", "labels", "invalid")
    names = [entry.get("name") if isinstance(entry, dict) else entry for entry in labels]
    if not all(isinstance(name, str) for name in names):
        raise invalid("Label", "labels", "invalid")
    return labels
