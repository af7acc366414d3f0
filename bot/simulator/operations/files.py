"""Files of a repository, each written by a push."""

from __future__ import annotations

import hashlib
import os

from bot.simulator.operations.accounts import acting
from bot.simulator.state.accounts import Account
from bot.simulator.state.repositories import Repository
from bot.simulator.state.world import World, locked


@locked
def write_file(
    world: World,
    repository: str | Repository,
    path: str,
    text: str | bytes | None,
    login: str | Account | None = None,
    message: str = "",
) -> str:
    """Commit one file to the default branch (`text` None deletes it) and return the commit's id."""
    repo = world.repo(repository)
    before, change = repo.head, "modified" if path in repo.files else "added"
    if text is None:
        del repo.files[path]
        change = "removed"
    else:
        repo.files[path] = text.encode() if isinstance(text, str) else text
    repo.head = hashlib.sha1(before.encode() + path.encode() + os.urandom(8), usedforsecurity=False).hexdigest()
    repo.pushed_at = world.now()
    sender = acting(world, login, repo)
    world.emit("push", None, sender, repository=repo, before=before, files={change: [path]}, message=message)
    return repo.head
