"""How far the index of each repository is: what `doppel index` shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.index import Index
from bot.store.parts.backfills import Backfills, Progress
from bot.store.parts.repositories import StoredRepository

WAITING, READING, EMBEDDING, READY, STOPPED = "waiting", "reading", "embedding", "ready", "stopped"


@dataclass(frozen=True, slots=True)
class Status:
    """One repository's index.

    `issues` are in it, of about `expected`; None where nobody has counted. `vectors` of them have vectors of the
    present model, None where there is no model for them. `problem` is what is in the way, empty if nothing is.
    """

    repository: str
    state: str
    issues: int
    expected: int | None
    vectors: int | None
    problem: str


def statuses(repositories: Iterable[StoredRepository], backfills: Backfills, index: Index) -> Iterator[Status]:
    """The status of each of the repositories."""
    for repository in repositories:
        progress = backfills.get(repository.id)
        issues, vectors = index.count(repository.id), index.vector_count(repository.id)
        state = state_of(progress, issues, vectors)
        # What was counted before the reading is outdated after it.
        expected = None if progress is None or progress.done else progress.expected
        yield Status(str(repository.ref), state, issues, expected, vectors, progress.problem if progress else "")


def state_of(progress: Progress | None, issues: int, vectors: int | None) -> str:
    """In a word, what is going on. A ready index whose vectors are not all there yet is embedding."""
    if progress is None:
        return WAITING
    if not progress.done:
        return STOPPED if progress.problem else READING
    return READY if vectors is None or vectors >= issues else EMBEDDING
