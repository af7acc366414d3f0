"""Labels of repositories and of issues, and label suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.simulator.errors import invalid
from bot.simulator.operations.base import locked
from bot.simulator.operations.repositories import RepositoryOperations
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Issue, Suggestion
from bot.simulator.state.repositories import LABEL_MAX, Label, Repository

# Without the `#` that pages write before it.
_COLOR = re.compile(r"[0-9a-fA-F]{6}")
DESCRIPTION_MAX = 100


class LabelOperations(RepositoryOperations):
    """Labels."""

    @locked
    def create_label(
        self,
        repository: str | Repository,
        name: str,
        color: str = "ededed",
        description: str | None = None,
        actor: str | Account | None = None,
    ) -> Label:
        """A new label of the repository; 422 if it has one of that name (compared without case)."""
        repo = self.repo(repository)
        self._check_label(name, color, description)
        if name.lower() in repo.labels:
            raise invalid("Label", "name", "already_exists")
        label = self.make_label(repo, name, color, description)
        self.emit("label", "created", self._actor(repo, actor), repository=repo, label=label)
        return label

    @locked
    def edit_label(
        self,
        repository: str | Repository,
        name: str,
        *,
        new_name: str | None = None,
        color: str | None = None,
        description: str | None = None,
        actor: str | Account | None = None,
    ) -> Label:
        """Rename, recolour or describe a label."""
        repo = self.repo(repository)
        label = repo.labels[name.lower()]
        self._check_label(new_name or name, color, description)
        changes: dict[str, dict[str, str]] = {}
        if new_name and new_name != label.name:
            if new_name.lower() in repo.labels and new_name.lower() != name.lower():
                raise invalid("Label", "name", "already_exists")
            changes["name"] = {"from": label.name}
            repo.labels[new_name.lower()] = repo.labels.pop(name.lower())
            label.name = new_name
            self.unindexed |= {issue.id for issue in self.issues_of(repo) if label in issue.labels}
        if color is not None and color != label.color:
            changes["color"] = {"from": label.color}
            label.color = color
        if description is not None and description != label.description:
            changes["description"] = {"from": label.description or ""}
            label.description = description
        if changes:
            self.emit("label", "edited", self._actor(repo, actor), repository=repo, label=label, changes=changes)
        return label

    @locked
    def delete_label(self, repository: str | Repository, name: str, actor: str | Account | None = None) -> None:
        """Delete a label; issues lose it without events of their own, as on GitHub."""
        repo = self.repo(repository)
        label = repo.labels.pop(name.lower())
        self.nodes.pop(label.node_id, None)
        for issue in self.issues_of(repo):
            if label in issue.labels:
                issue.labels.remove(label)
                self.unindexed.add(issue.id)
        self.emit("label", "deleted", self._actor(repo, actor), repository=repo, label=label)

    @staticmethod
    def check_label_names(names: Iterable[str]) -> None:
        """Refuse with 422 what cannot be the name of a label."""
        for name in names:
            if not name or len(name) > LABEL_MAX:
                raise invalid("Label", "name", "invalid", value=name)

    def _check_label(self, name: str, color: str | None, description: str | None) -> None:
        """Refuse with 422 what GitHub does not take of a label."""
        self.check_label_names([name])
        if color is not None and not _COLOR.fullmatch(color):
            raise invalid("Label", "color", "invalid")
        if description is not None and len(description) > DESCRIPTION_MAX:
            raise invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")

    def label_named(self, repository: Repository, name: str) -> Label:
        """The repository's label of that name, made if it has none: GitHub does so when an issue is labelled."""
        self.check_label_names([name])
        return repository.labels.get(name.lower()) or self.make_label(repository, name)

    @locked
    def add_labels(
        self, repository: str | Repository, number: int, *names: str, actor: str | Account | None = None
    ) -> Issue:
        """Add labels to an issue, next to those it has."""
        issue = self.issue(repository, number)
        self.set_labels(issue, [*(label.name for label in issue.labels), *names], actor)
        return issue

    @locked
    def remove_label(
        self, repository: str | Repository, number: int, name: str, actor: str | Account | None = None
    ) -> Issue:
        """Take one label off an issue."""
        issue = self.issue(repository, number)
        self.set_labels(issue, [label.name for label in issue.labels if label.name.lower() != name.lower()], actor)
        return issue

    @locked
    def set_labels(self, issue: Issue, names: Iterable[str], actor: str | Account | None = None) -> None:
        """Give an issue exactly these labels; every one that comes or goes is an event."""
        repo, sender = issue.repository, self._actor(issue.repository, actor)
        names = list(names)
        self.check_label_names(names)
        wanted = list(dict.fromkeys(self.label_named(repo, name) for name in names))
        for label in [label for label in issue.labels if label not in wanted]:
            issue.labels.remove(label)
            self.touch(issue)
            self.record(issue, "unlabeled", sender, label=label)
            self.emit("issues", "unlabeled", sender, repository=repo, issue=issue, label=label)
        for label in [label for label in wanted if label not in issue.labels]:
            issue.labels.append(label)
            self.touch(issue)
            self.record(issue, "labeled", sender, label=label)
            self.emit("issues", "labeled", sender, repository=repo, issue=issue, label=label)

    @locked
    def suggest_label(
        self, issue: Issue, name: str, actor: str | Account, rationale: str | None = None, confidence: str | None = None
    ) -> Suggestion | None:
        """Store a label as a suggestion; None where the issue has it already. A newer one replaces a pending one."""
        label = self.label_named(issue.repository, name)
        if label in issue.labels:
            return None
        now = self.now()
        for old in issue.suggestions:
            if old.label is label and old.state == "pending":
                old.state, old.updated_at = "replaced", now
        made = Suggestion(self.ids.next("suggestion"), label, self.who(actor), rationale, confidence, now, now)
        issue.suggestions.append(made)
        return made

    @locked
    def resolve_suggestion(self, issue: Issue, key: int, approve: bool, actor: str | Account) -> Suggestion:
        """A maintainer approves (the label is added) or dismisses a pending suggestion."""
        found = next(entry for entry in issue.suggestions if entry.id == key)
        if found.state != "pending":
            raise invalid("Suggestion", "state", "invalid", "The suggestion is no longer pending.")
        found.state, found.updated_at = "approved" if approve else "dismissed", self.now()
        found.resolved_by = self.who(actor)
        if approve:
            self.set_labels(issue, [*(label.name for label in issue.labels), found.label.name], actor)
        return found

    def _actor(self, repository: Repository, actor: str | Account | None) -> Account:
        return self.who(actor) if actor else self.administrator(repository.owner)
