"""The effects of filling the index: reading GitHub, writing the index, and queueing the next step."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from bot.embedding import EmbeddingError
from bot.errors import Retryable
from bot.events import Event, IndexEvent
from bot.github.api.calls import PAGE
from bot.github.repository.repo import RepoClient
from bot.index import Index
from bot.indexing.reading import EMBEDDED, LOST, PAGES, READ_CLOSELY, SLOWLY, pause, read_pages, retry
from bot.indexing.writing import Writer, told
from bot.model import Issue, Repository
from bot.store import Store
from bot.store.parts.repositories import Progress, StoredRepository

logger = logging.getLogger(__name__)

LOOK_EVERY = 1800.0
"""Seconds between two rounds through all repositories; where nothing has changed, each is one short answer."""


class Queue(Protocol):
    """Where the next step is put: the bot's `Inbox`, or whoever takes the steps himself."""

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool: ...


class Indexing:
    """Keeps the index of every repository. Safe to share between threads.

    A repository is read in steps of the background queue. Each notes its progress after its issues, and queues the next
    under a name that is the same when it is repeated; so a step that dies in the middle is done again, and no other.
    """

    def __init__(
        self, index: Index, store: Store, inbox: Queue, clock: Callable[[], datetime], *, closely: bool = True
    ) -> None:
        """Without `closely` the text model reads an issue not before a find looks at it."""
        self._index = index
        self._store = store
        self._inbox = inbox
        self._clock = clock
        self._backfills = store.backfills
        self._closely = closely
        self._writer = Writer(index, store)
        self._unexplained: dict[int, int] = {}

    def ready(self, repo_id: int) -> bool:
        """Whether the index of a repository is complete."""
        return self.progress(repo_id).done

    def progress(self, repo_id: int) -> Progress:
        """How far the reading of a repository has come."""
        return self._backfills.get(repo_id) or Progress()

    def begin(self, repository: Repository, installation: int | None, at: float) -> None:
        """Have a repository read that came to us, or back to us, `at` a time (seconds since 1970); nothing happens if
        somebody is at it, or all is read.

        What is repeated with the same time queues nothing new.
        """
        known = self._backfills.get(repository.id)
        if (known is None or known.stopped) and not repository.archived:
            self._queue(IndexEvent(installation, repository, f"new-{at:.3f}"), 0.0)

    def look_again(self) -> None:
        """Have every repository looked at for what webhooks have missed, and go on where a reading was lost."""
        self._look_at(self._store.repositories.list())

    def take_up(self) -> None:
        """Have those looked at that were never read or lack vectors, or of which something is noted to be in the way.

        For a worker that starts: with its settings the host may have changed just that, such as the model.
        """
        self._look_at(known for known in self._store.repositories.list() if self._waits(known.id))

    def _waits(self, repo_id: int) -> bool:
        progress, vectors = self._backfills.get(repo_id), self._index.vector_count(repo_id)
        lacking = any(
            made is not None and made < self._index.count(repo_id)
            for made in (vectors, self._index.text_count(repo_id))
        )
        return progress is None or lacking or progress.problem != ""

    def _look_at(self, repositories: Iterable[StoredRepository]) -> None:
        # Named by the time, rounds of a clock that was ahead would be known already when their time comes. That each
        # is called for once is the affair of whoever calls for it, and a second one does no harm.
        chain = f"round-{uuid.uuid4()}"
        for known in repositories:
            if not known.suspended and not known.archived:
                self._queue(IndexEvent(known.installation, known.summary, chain), 0.0)

    def step(self, event: IndexEvent, repository: Repository, github: RepoClient) -> None:
        """Read on, and queue the next step if there is more to do. `repository` is what it is called now."""
        if event.checked is not None:
            self._check(replace(event, repository=repository), event.checked, github)
            return
        known = self._backfills.get(repository.id)
        if known and event.step == 0 and not known.done and abs(self._now() - known.updated_at) < LOST:
            # Another chain is at it.
            return
        if self._index.is_outdated(repository.id):
            logger.info("%s: its issues are read anew, since this version reads texts differently", repository.ref)
            self._index.forget(repository.id)
            known = self._backfills.get(repository.id)
        began = known or self._begun(repository.id)
        if began is None:
            return
        try:
            progress, wait = self._advance(known, repository, github)
            surplus = self._surplus(repository, github) if wait is None else 0
        except Retryable as failure:
            progress, wait, surplus = replace(known or Progress(), problem=str(failure)), retry(failure.after), 0
        if progress.problem:
            logger.warning("%s: the index waits: %s", repository.ref, progress.problem)
        # In this order: whoever dies before the note does this step again, with the same name for the next one.
        if progress.done and not (known and known.done):
            self._queue(replace(event, repository=repository, completed=True), 0.0)
        if wait is not None:
            self._queue(replace(event, repository=repository, step=event.step + 1), wait)
        elif surplus > self._unexplained.get(repository.id, 0):
            logger.info("%s: issues too many in the index: %d", repository.ref, surplus)
            self._queue(replace(event, repository=repository, step=event.step + 1, checked=0), 0.0)
        self._note(repository.id, began, progress)

    def stop(self, repo_id: int, problem: str) -> None:
        """Note why a repository cannot be read at present; `begin` or the next round tries again."""
        known = self._backfills.get(repo_id)
        # Nobody is at it any more.
        self._backfills.replace(repo_id, known, replace(known or Progress(), problem=problem, updated_at=0.0))

    def keep(self, github: RepoClient, repository: Repository, issue: Issue) -> None:
        """Put one issue into the index as it is now. A model that fails leaves its vectors for the next round."""
        if problem := self._writer.put(github, repository, [issue]):
            logger.warning("%s#%d: %s", repository.ref, issue.number, problem)

    def remove(self, repo_id: int, number: int) -> None:
        """Take an issue out that is no longer there."""
        self._writer.remove(repo_id, number)

    def _advance(
        self, known: Progress | None, repository: Repository, github: RepoClient
    ) -> tuple[Progress, float | None]:
        """One step: how far it came, and in how many seconds the next one is due, None if there is nothing more to do.

        Raises Retryable where nothing came of it.
        """
        progress = known or Progress()
        # Also where the first step ended before it came to anything; of what is empty there is never a cursor.
        first = not progress.cursor and not progress.done
        if first:
            progress = replace(progress, expected=self._count(known, repository, github))
        about = "" if progress.expected is None else f" of about {progress.expected}"
        if first:
            logger.info("%s: reading its issues into the index: 0%s", repository.ref, about)
        read = read_pages(progress, repository, github)
        if read.issues:
            self._make_sure(repository, github)
        problem = self._writer.put(github, repository, read.issues)
        progress = replace(
            progress,
            cursor=str(read.place),
            # It belongs to one question, and holds only if the next one is the same.
            etag=read.etag if str(read.place) == progress.cursor else "",
            seen=self._index.count(repository.id),
            done=progress.done or read.end,
            problem=str(read.failure or problem),
        )
        if read.failure is not None:
            return progress, retry(read.failure.after)
        if not known or not known.done:
            logger.info("%s: issues in the index: %d%s", repository.ref, progress.seen, about)
        if not read.end:
            return progress, pause(read.requests, read.budget)
        return self._complete(progress, repository, github)

    def _complete(
        self, progress: Progress, repository: Repository, github: RepoClient
    ) -> tuple[Progress, float | None]:
        """A part of what remains when all issues are read: vectors, originals."""
        try:
            # After a change of the model these are all there are.
            embedded = self._index.embed_missing(repository.id, EMBEDDED)
        except EmbeddingError as failure:
            return replace(progress, problem=told(repository, failure)), None
        if embedded or self._read_closely(repository):
            return progress, 0.0
        problem = progress.problem or self._writer.tell_originals(github, repository, PAGES * PAGE)
        return replace(progress, problem=problem), None

    def _read_closely(self, repository: Repository) -> int:
        """Have the text model read some issues; returns how many. Where it fails, finds go on without it."""
        try:
            texts = self._index.texts if self._closely else None
            return texts.embed_missing(repository.id, READ_CLOSELY) if texts else 0
        except EmbeddingError as failure:
            logger.warning("%s: %s", repository.ref, failure)
            return 0

    def _count(self, known: Progress | None, repository: Repository, github: RepoClient) -> int | None:
        """How many issues there are to read. Where that failed before it goes on without: only people want to know.

        GraphQL can fail over one repository for good, and reading asks nothing of it.
        """
        try:
            return github.count_issues(repository.ref, repository.id)
        except Retryable:
            if known is None:
                raise
            return known.expected

    def _make_sure(self, repository: Repository, github: RepoClient) -> None:
        """Raises NotFound where the issues that were read are another repository's, which has this one's name by now.

        To take them for its own would write them over these, and have all others taken out.
        """
        try:
            github.count_issues(repository.ref, repository.id)
        except Retryable:
            # What cannot be asked now is no reason to wait: somebody has the name of another once in years.
            return

    def _surplus(self, repository: Repository, github: RepoClient) -> int:
        """How many more issues there are in the index than on GitHub: of their deletion nobody has told."""
        try:
            there = github.count_issues(repository.ref, repository.id)
        except Retryable:
            # The next round asks again.
            return 0
        if there is None:
            return 0
        # GitHub counts the bot's own issues, which are never in the index: each would hide one that was deleted.
        own = self._store.own_issues(repository.id)
        return max(0, self._index.count(repository.id) - (there - len(own)))

    def _check(self, event: IndexEvent, checked: int, github: RepoClient) -> None:
        """Take out some of the issues that are no longer there, and queue the next step.

        What is too many after the last one is a difference in GitHub's counting, and no reason to ask again.
        """
        repository = event.repository
        numbers = self._index.numbers(repository.id, checked, PAGES * PAGE)
        if not numbers:
            self._unexplained[repository.id] = self._surplus(repository, github)
            return
        for number in github.missing_issues(repository.ref, numbers, repository.id):
            logger.info("%s#%d is no longer there", repository.ref, number)
            self.remove(repository.id, number)
            self._store.forget_issue(repository.id, number)
        self._queue(replace(event, step=event.step + 1, checked=numbers[-1]), PAGES * SLOWLY)

    def _begun(self, repo_id: int) -> Progress | None:
        """A note that a reading begins, without which nobody could tell that the repository was erased meanwhile; None
        where somebody else is faster.
        """
        # Like no other note, and so long ago that whoever does this step again need not wait.
        begun = Progress(updated_at=-self._now())
        return begun if self._backfills.replace(repo_id, None, begun) else None

    def _note(self, repo_id: int, began: Progress, progress: Progress) -> None:
        if not self._backfills.replace(repo_id, began, replace(progress, updated_at=self._now())):
            logger.info("repository %d: a step of reading it was overtaken", repo_id)

    def _queue(self, event: IndexEvent, delay: float) -> None:
        self._inbox.put(event.delivery_id, event, delay)

    def _now(self) -> float:
        return self._clock().timestamp()
