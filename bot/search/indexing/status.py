"""The state of each repository's index, for `doppel index` and the dashboard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.search.index import Index
from bot.storage.repositories import Backfills, Progress, StoredRepository

WAITING, READING, EMBEDDING, READY, STOPPED = "waiting", "reading", "embedding", "ready", "stopped"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """One repository's index.

    It has `issues` of about `expected`, None if that is unknown. `vectors` of them have vectors of the present model,
    and the text model has read `texts` of them; None without such a model. `problem` says why it waits, else is empty.
    """

    repository: str
    state: str
    issues: int
    expected: int | None
    vectors: int | None
    texts: int | None
    problem: str


def index_statuses(
    repositories: Iterable[StoredRepository], backfills: Backfills, index: Index
) -> Iterator[IndexStatus]:
    """The status of each of the repositories."""
    for repository in repositories:
        progress = backfills.get(repository.id)
        issues, vectors = index.count(repository.id), index.vector_count(repository.id)
        texts = index.text_count(repository.id)
        state = state_of(progress, issues, vectors, texts)
        # After the backfill, the count from before it is outdated.
        expected = None if progress is None or progress.done else progress.expected
        yield IndexStatus(
            str(repository.ref), state, issues, expected, vectors, texts, progress.problem if progress else ""
        )


def state_of(progress: Progress | None, issues: int, vectors: int | None, texts: int | None = None) -> str:
    """The state in a word: EMBEDDING if only some vectors or texts are missing."""
    if progress is None:
        return WAITING
    if not progress.done:
        return STOPPED if progress.problem else READING
    return READY if all(made is None or made >= issues for made in (vectors, texts)) else EMBEDDING
