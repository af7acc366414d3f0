"""Repositories: creating, renaming, hiding, archiving, transferring and deleting them; roles."""

from __future__ import annotations

from bot.simulator.operations import installations
from bot.simulator.operations.accounts import administrator, who
from bot.simulator.operations.labels import make_label
from bot.simulator.operations.leaving import forget
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import SIMILARITIES, Repository, Role, Similarity
from bot.simulator.state.world import World, locked

# The labels that GitHub gives every new repository, and their colours.
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


@locked
def add_repository(
    world: World,
    full_name: str,
    *,
    private: bool = False,
    suggestions: bool = True,
    labels: bool = True,
    owner_type: str = "Organization",
) -> Repository:
    """Create a repository, and its owner if missing.

    `suggestions` turns on the feature "issue suggestions", `labels` adds GitHub's default labels. Installations that
    cover all of the owner's repositories cover the new one at once.
    """
    login, name = full_name.split("/")
    _require_free(world, full_name)
    owner = who(world, login, "User" if owner_type == "User" else "Organization")
    now = world.now()
    key = world.ids.next("repository")
    created = Repository(key, node_id("R", key), owner, name, now, now, now)
    created.private, created.suggestions = private, suggestions
    world.repositories[key] = created
    world.names[full_name.lower()] = key
    world.nodes[created.node_id] = created
    for label, color in (_DEFAULT_LABELS if labels else {}).items():
        make_label(world, created, label, color, default=True)
    sender = administrator(world, owner)
    installations.gain(world, created, sender)  # tells the Apps on all of the owner's repositories
    world.emit("repository", "created", sender, repository=created)
    return created


@locked
def set_permission(world: World, repository: str | Repository, login: str | Account, role: Role) -> None:
    """Give an account a role in the repository; `none` removes the role."""
    repo, account = world.repo(repository), who(world, login)
    repo.roles[account.id] = role


@locked
def set_similarity(world: World, repository: str | Repository, answers: Similarity) -> None:
    """Set the repository's answer to requests for similar issues. See `Similarity`."""
    if answers not in SIMILARITIES:
        raise ValueError(f"{answers!r} is not one of {', '.join(map(str, SIMILARITIES))}")
    world.repo(repository).similarity = answers


@locked
def rename_repository(world: World, repository: str | Repository, name: str) -> None:
    """Rename the repository; the old name redirects."""
    repo = world.repo(repository)
    _require_free(world, f"{repo.owner.login}/{name}")
    old, repo.name = repo.name, name
    _renamed(world, repo)
    changes = {"repository": {"name": {"from": old}}}
    world.emit("repository", "renamed", administrator(world, repo.owner), repository=repo, changes=changes)


@locked
def transfer_repository(world: World, repository: str | Repository, owner: str) -> None:
    """Transfer the repository to another owner; installations on the old owner lose it."""
    repo = world.repo(repository)
    _require_free(world, f"{owner}/{repo.name}")
    old = repo.owner
    sender = administrator(world, old)
    losing = world.installations_on(repo)
    repo.owner = who(world, owner, "Organization")
    _renamed(world, repo)
    installations.gain(world, repo, sender)
    kind = "user" if old.type == "User" else "organization"
    # Send the event also to the installations that lose the repository.
    world.emit(
        "repository",
        "transferred",
        sender,
        repository=repo,
        changes={"owner": {"from": {kind: old}}},
        installations=losing,
    )
    for installation in losing:
        installations.drop(world, installation, repo, sender)


@locked
def set_private(world: World, repository: str | Repository, private: bool) -> None:
    """Make the repository private or public."""
    repo = world.repo(repository)
    repo.private = private
    action = "privatized" if private else "publicized"
    world.emit("repository", action, administrator(world, repo.owner), repository=repo)


@locked
def archive_repository(world: World, repository: str | Repository, archived: bool = True) -> None:
    """Archive the repository: everything in it becomes read-only. `archived=False` reverts this."""
    repo = world.repo(repository)
    repo.archived = archived
    action = "archived" if archived else "unarchived"
    world.emit("repository", action, administrator(world, repo.owner), repository=repo)


@locked
def delete_repository(world: World, repository: str | Repository) -> None:
    """Delete the repository with all its contents."""
    repo = world.repo(repository)
    sender = administrator(world, repo.owner)
    world.emit("repository", "deleted", sender, repository=repo)
    for installation in world.installations_on(repo):
        installations.drop(world, installation, repo, sender)
    for issue in list(world.issues_of(repo)):
        forget(world, issue)
    labels = [label.node_id for label in repo.labels.values()]
    discussions = [one.node_id for one in world.discussions.values() if one.repository is repo]
    for node in (repo.node_id, *labels, *discussions):
        del world.nodes[node]
    world.issues.pop(repo.id, None)
    world.discussions = {key: one for key, one in world.discussions.items() if one.repository is not repo}
    del world.repositories[repo.id]
    world.names = {name: key for name, key in world.names.items() if key != repo.id}


def _renamed(world: World, repository: Repository) -> None:
    """Register the name that the repository has now; former names stay and redirect."""
    world.names[repository.full_name.lower()] = repository.id
    repository.updated_at = world.now()
    # The search index stores the repository's name with each issue.
    for issue in world.issues_of(repository):
        world.unindexed.add(issue.id)


def _require_free(world: World, full_name: str) -> None:
    """Raise ValueError if a repository has this name now. A name that only redirects may be reused."""
    holder = world.named(full_name)
    if holder is not None and holder.full_name.lower() == full_name.lower():
        raise ValueError(f"{full_name} exists already")
