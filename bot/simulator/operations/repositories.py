"""Repositories: making, renaming, hiding, freezing, moving and deleting them; roles and files."""

from __future__ import annotations

import hashlib
import os

from bot.simulator.operations.base import locked
from bot.simulator.operations.installations import InstallationOperations
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Label, Repository, Role

# The labels that GitHub gives every new repository, with its colours.
_DEFAULT_LABELS = {
    "bug": "d73a4a",
    "documentation": "0075ca",
    "duplicate": "cfd3d7",
    "enhancement": "a2eeef",
    "good first issue": "7057ff",
    "help wanted": "008672",
    "invalid": "e4e669",
    "question": "d876e3",
    "wontfix": "ffffff",
}


class RepositoryOperations(InstallationOperations):
    """Repositories and what an administrator does with them."""

    @locked
    def add_repository(
        self,
        full_name: str,
        *,
        private: bool = False,
        description: str | None = None,
        has_issues: bool = True,
        suggestions: bool = True,
        labels: bool = True,
        owner_type: str = "Organization",
    ) -> Repository:
        """Make a repository, and its owner if nobody has that login yet.

        `suggestions` switches the feature "issue suggestions", `labels` the labels that new repositories come with.
        A repository under an account whose installation reaches all its repositories is covered at once.
        """
        login, name = full_name.split("/")
        self._require_free(full_name)
        owner = self.who(login, "User" if owner_type == "User" else "Organization")
        now = self.now()
        key = self.ids.next("repository")
        made = Repository(key, node_id("R", key), owner, name, now, now, now)
        made.private, made.has_issues, made.suggestions = private, has_issues, suggestions
        made.description = description
        self.repositories[key] = made
        self.names[full_name.lower()] = key
        self.nodes[made.node_id] = made
        for text, color in _DEFAULT_LABELS.items() if labels else ():
            self.make_label(made, text, color, default=True)
        sender = self._admin(made, None)
        self.gain(made, sender)
        self.emit("repository", "created", sender, repository=made)
        return made

    def make_label(
        self,
        repository: Repository,
        name: str,
        color: str = "ededed",
        description: str | None = None,
        default: bool = False,
    ) -> Label:
        """Put a new label into the repository without telling anybody."""
        key = self.ids.next("label")
        label = Label(key, node_id("LA", repository.id, key), name, color, description, default)
        repository.labels[name.lower()] = label
        self.nodes[label.node_id] = label
        return label

    @locked
    def set_permission(self, repository: str | Repository, login: str | Account, role: Role) -> None:
        """Give an account a role in the repository (`none` takes it away)."""
        repo, account = self.repo(repository), self.who(login)
        repo.roles[account.id] = role

    @locked
    def rename_repository(self, repository: str | Repository, name: str, actor: str | None = None) -> None:
        """Change the name within the owner; the old name redirects."""
        repo = self.repo(repository)
        self._require_free(f"{repo.owner.login}/{name}")
        old, repo.name = repo.name, name
        self._renamed(repo)
        changes = {"repository": {"name": {"from": old}}}
        self.emit("repository", "renamed", self._admin(repo, actor), repository=repo, changes=changes)

    @locked
    def transfer_repository(self, repository: str | Repository, owner: str, actor: str | None = None) -> None:
        """Move the repository to another owner; installations on the old one lose it."""
        repo = self.repo(repository)
        self._require_free(f"{owner}/{repo.name}")
        old = repo.owner
        sender = self._admin(repo, actor)
        losing = [i for i in self.installations.values() if self.covers(i, repo)]
        repo.owner = self.who(owner, "Organization")
        self._renamed(repo)
        self.gain(repo, sender)
        kind = "user" if old.type == "User" else "organization"
        # Those who lose the repository hear of it too, so the event goes out once more to them.
        self.emit(
            "repository",
            "transferred",
            sender,
            repository=repo,
            changes={"owner": {"from": {kind: old}}},
            installations=losing,
        )
        for installation in losing:
            self.drop(installation, repo, sender)

    @locked
    def set_private(self, repository: str | Repository, private: bool, actor: str | None = None) -> None:
        """Hide the repository, or show it to everybody."""
        repo = self.repo(repository)
        repo.private = private
        action = "privatized" if private else "publicized"
        self.emit("repository", action, self._admin(repo, actor), repository=repo)

    @locked
    def archive_repository(self, repository: str | Repository, archived: bool = True, actor: str | None = None) -> None:
        """Freeze the repository: everything in it becomes read-only. `archived=False` thaws it."""
        repo = self.repo(repository)
        repo.archived = archived
        action = "archived" if archived else "unarchived"
        self.emit("repository", action, self._admin(repo, actor), repository=repo)

    @locked
    def delete_repository(self, repository: str | Repository, actor: str | None = None) -> None:
        """Delete the repository with all that is in it."""
        repo = self.repo(repository)
        sender = self._admin(repo, actor)
        self.emit("repository", "deleted", sender, repository=repo)
        for installation in [i for i in self.installations.values() if self.covers(i, repo)]:
            self.drop(installation, repo, sender)
        for issue in list(self.issues_of(repo)):
            self.forget(issue)
        labels = [label.node_id for label in repo.labels.values()]
        discussions = [one.node_id for one in self.discussions.values() if one.repository is repo]
        for node in (repo.node_id, *labels, *discussions):
            del self.nodes[node]
        self.issues.pop(repo.id, None)
        self.discussions = {key: one for key, one in self.discussions.items() if one.repository is not repo}
        del self.repositories[repo.id]
        self.names = {name: key for name, key in self.names.items() if key != repo.id}

    @locked
    def write_file(
        self,
        repository: str | Repository,
        path: str,
        text: str | bytes | None,
        login: str | Account | None = None,
        message: str = "",
    ) -> str:
        """Commit one file to the default branch (None deletes it) and return the commit's id."""
        repo = self.repo(repository)
        before, existed = repo.head, path in repo.files
        if text is None:
            del repo.files[path]
        else:
            repo.files[path] = text.encode() if isinstance(text, str) else text
        repo.head = hashlib.sha1(before.encode() + path.encode() + os.urandom(8), usedforsecurity=False).hexdigest()
        repo.pushed_at = self.now()
        change = "removed" if text is None else "modified" if existed else "added"
        sender = self._admin(repo, login)
        self.emit("push", None, sender, repository=repo, before=before, files={change: [path]}, message=message)
        return repo.head

    def _admin(self, repository: Repository, actor: str | Account | None) -> Account:
        """Who does what only administrators do: the one named, else the owner's administrator."""
        return self.who(actor) if actor else self.administrator(repository.owner)

    def _renamed(self, repository: Repository) -> None:
        """Enter the present name; former ones stay and redirect."""
        self.names[repository.full_name.lower()] = repository.id
        repository.updated_at = self.now()
        for issue in self.issues_of(repository):
            self.unindexed.add(issue.id)

    def _require_free(self, full_name: str) -> None:
        """ValueError if a repository is called so at present. A name that only redirects can be taken."""
        holder = self.repositories.get(self.names.get(full_name.lower(), 0))
        if holder is not None and holder.full_name.lower() == full_name.lower():
            raise ValueError(f"{full_name} exists already")
