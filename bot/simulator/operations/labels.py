"""Labels of repositories and of issues."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.simulator.errors import invalid
from bot.simulator.operations.accounts import acting
from bot.simulator.operations.history import record, touch
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import Issue
from bot.simulator.state.repositories import LABEL_MAX, Label, Repository
from bot.simulator.state.world import World, locked

_COLOR = re.compile(r"[0-9a-fA-F]{6}")
DESCRIPTION_MAX = 100


@locked
def create_label(
    world: World,
    repository: str | Repository,
    name: str,
    color: str = "ededed",
    description: str | None = None,
    actor: str | Account | None = None,
) -> Label:
    """A new label; 422 if the repository already has a label of that name (ignoring case)."""
    repo = world.repo(repository)
    _check_label(name, color, description)
    if name.lower() in repo.labels:
        raise invalid("Label", "name", "already_exists")
    label = make_label(world, repo, name, color, description)
    world.emit("label", "created", acting(world, actor, repo), repository=repo, label=label)
    return label


@locked
def edit_label(
    world: World,
    repository: str | Repository,
    name: str,
    *,
    new_name: str | None,
    color: str | None,
    description: str | None,
    actor: str | Account | None,
) -> Label:
    """Rename, recolour or describe a label; None leaves a property as it is."""
    repo = world.repo(repository)
    label = repo.labels[name.lower()]
    _check_label(new_name or name, color, description)
    changes: dict[str, dict[str, str]] = {}
    if new_name and new_name != label.name:
        if new_name.lower() in repo.labels and new_name.lower() != name.lower():
            raise invalid("Label", "name", "already_exists")
        changes["name"] = {"from": label.name}
        repo.labels[new_name.lower()] = repo.labels.pop(name.lower())
        label.name = new_name
        world.unindexed |= {issue.id for issue in world.issues_of(repo) if label in issue.labels}
    if color is not None and color != label.color:
        changes["color"] = {"from": label.color}
        label.color = color
    if description is not None and description != label.description:
        changes["description"] = {"from": label.description or ""}
        label.description = description
    if changes:
        world.emit("label", "edited", acting(world, actor, repo), repository=repo, label=label, changes=changes)
    return label


@locked
def delete_label(world: World, repository: str | Repository, name: str, actor: str | Account | None = None) -> None:
    """Delete a label. As on GitHub, the issues with the label get no `unlabeled` events."""
    repo = world.repo(repository)
    label = repo.labels.pop(name.lower())
    world.nodes.pop(label.node_id, None)
    for issue in world.issues_of(repo):
        if label in issue.labels:
            issue.labels.remove(label)
            world.unindexed.add(issue.id)
    world.emit("label", "deleted", acting(world, actor, repo), repository=repo, label=label)


def _check_label(name: str, color: str | None, description: str | None) -> None:
    """Refuse with 422 a label that GitHub does not accept."""
    check_label_names([name])
    if color is not None and not _COLOR.fullmatch(color):
        raise invalid("Label", "color", "invalid")
    if description is not None and len(description) > DESCRIPTION_MAX:
        raise invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")


def check_label_names(names: Iterable[str]) -> None:
    """Refuse with 422 names that no label can have."""
    for name in names:
        if not name or len(name) > LABEL_MAX:
            raise invalid("Label", "name", "invalid", value=name)


def make_label(
    world: World,
    repository: Repository,
    name: str,
    color: str = "ededed",
    description: str | None = None,
    default: bool = False,
) -> Label:
    """Put a new label into the repository, without an event."""
    key = world.ids.next("label")
    label = Label(key, node_id("LA", repository.id, key), name, color, description, default)
    repository.labels[name.lower()] = label
    world.nodes[label.node_id] = label
    return label


def label_named(world: World, repository: Repository, name: str) -> Label:
    """The repository's label of that name. As on GitHub, labelling an issue creates a missing label."""
    check_label_names([name])
    return repository.labels.get(name.lower()) or make_label(world, repository, name)


@locked
def add_labels(
    world: World, repository: str | Repository, number: int, *names: str, actor: str | Account | None = None
) -> Issue:
    """Add labels to an issue, which keeps its other labels."""
    issue = world.issue(repository, number)
    set_labels(world, issue, [*(label.name for label in issue.labels), *names], actor)
    return issue


@locked
def remove_label(
    world: World, repository: str | Repository, number: int, name: str, actor: str | Account | None = None
) -> Issue:
    """Take one label off an issue."""
    issue = world.issue(repository, number)
    set_labels(world, issue, [label.name for label in issue.labels if label.name.lower() != name.lower()], actor)
    return issue


@locked
def set_labels(world: World, issue: Issue, names: Iterable[str], actor: str | Account | None = None) -> None:
    """Give an issue exactly these labels. Every added or removed label sends an event."""
    repo, sender = issue.repository, acting(world, actor, issue.repository)
    names = list(names)
    check_label_names(names)
    wanted = list(dict.fromkeys(label_named(world, repo, name) for name in names))
    for label in [label for label in issue.labels if label not in wanted]:
        issue.labels.remove(label)
        touch(world, issue)
        record(world, issue, "unlabeled", sender, label=label)
        world.emit("issues", "unlabeled", sender, repository=repo, issue=issue, label=label)
    for label in [label for label in wanted if label not in issue.labels]:
        issue.labels.append(label)
        touch(world, issue)
        record(world, issue, "labeled", sender, label=label)
        world.emit("issues", "labeled", sender, repository=repo, issue=issue, label=label)
