"""How far the index of each repository is: what `doppel index` shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.index import Index
from bot.store.parts.repositories import Backfills, Progress, StoredRepository

WAITING, READING, EMBEDDING, READY, STOPPED = "waiting", "reading", "embedding", "ready", "stopped"


@dataclass(frozen=True, slots=True)
class Status:
    """One repository's index.

    `issues` are in it, of about `expected`; None where nobody has counted. `vectors` of them have vectors of the
    present model, and the text model has read `texts` of them; None where there is no such model. `problem` is what is
    in the way, empty if nothing is.
    """

    repository: str
    state: str
    issues: int
    expected: int | None
    vectors: int | None
    texts: int | None
    problem: str


def statuses(repositories: Iterable[StoredRepository], backfills: Backfills, index: Index) -> Iterator[Status]:
    """The status of each of the repositories."""
    for repository in repositories:
        progress = backfills.get(repository.id)
        issues, vectors = index.count(repository.id), index.vector_count(repository.id)
        texts = index.text_count(repository.id)
        state = state_of(progress, issues, vectors, texts)
        # What was counted before the reading is outdated after it.
        expected = None if progress is None or progress.done else progress.expected
        yield Status(str(repository.ref), state, issues, expected, vectors, texts, progress.problem if progress else "")


def state_of(progress: Progress | None, issues: int, vectors: int | None, texts: int | None = None) -> str:
    """In a word, what is going on. An index that is complete, but for some vectors or texts, is embedding."""
    if progress is None:
        return WAITING
    if not progress.done:
        return STOPPED if progress.problem else READING
    return READY if all(made is None or made >= issues for made in (vectors, texts)) else EMBEDDING
