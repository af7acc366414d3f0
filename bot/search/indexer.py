"""Fills the index of each repository by a backfill in steps, keeps it up to date, and reports its status.

Handlers of issue events call `put` and `remove`, the queue runs `step`, and the scheduler runs `resync`.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from bot.conversation.own_issues import is_own_issue
from bot.deliveries.events import Event, IndexEvent
from bot.domain.entities import Issue, Repository
from bot.domain.errors import Retryable, Unavailable
from bot.github.calls import PAGE
from bot.github.repository import RepoClient
from bot.search.embedding import EmbeddingError
from bot.search.index import Index, IndexedIssue
from bot.search.issue_forms import IssueForms
from bot.search.issue_pages import EMBEDDED, LOST, PAGES, READ_CLOSELY, SLOWLY, pause, read_pages, retry
from bot.search.repository_settings import RepositorySettings
from bot.storage import Store
from bot.storage.repositories import Backfills, Progress, StoredRepository

WAITING, READING, EMBEDDING, READY, STOPPED = "waiting", "reading", "embedding", "ready", "stopped"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The state of a repository's index. `problem` says why the index waits, or is empty.

    `issues` is the count in the index. `expected` estimates all issues (None: unknown or outdated).
    `vectors` counts issues with a vector of the embedding model, `texts` those of the text model (None: not used).
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
    for repository in repositories:
        progress = backfills.get(repository.id)
        issues, vectors = index.count(repository.id), index.vector_count(repository.id)
        texts = index.text_count(repository.id)
        state = state_of(progress, issues, vectors, texts)
        # `expected` was counted before the backfill, so it is outdated afterwards.
        expected = None if progress is None or progress.done else progress.expected
        yield IndexStatus(
            str(repository.ref), state, issues, expected, vectors, texts, progress.problem if progress else ""
        )


# A ready index may lack the vectors of at most this many issues, and of at most one in fifty, until the next `resync`.
_FEW_MISSING = 20


def state_of(progress: Progress | None, issues: int, vectors: int | None, texts: int | None = None) -> str:
    """The state in one word. EMBEDDING if all issues are read, but more than a few lack vectors."""
    if progress is None:
        return WAITING
    if not progress.done:
        return STOPPED if progress.problem else READING
    enough = issues - min(_FEW_MISSING, issues // 50)
    return READY if all(count is None or count >= enough for count in (vectors, texts)) else EMBEDDING


logger = logging.getLogger(__name__)

RESYNC_EVERY = 1800.0
"""Seconds between two rounds through all repositories. A round costs two short requests in an unchanged repository."""


class EventQueue(Protocol):
    """Takes the next step of a backfill: the bot's `Inbox`, or a caller that runs the steps itself."""

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool: ...


class Indexer:
    """Keeps the index of every repository. Thread safe.

    The queue runs a backfill in steps. Each step saves its issues, queues the next step, and saves its progress. So
    after a crash only one step runs again. It queues the next step under the same id, which the queue takes only once.
    """

    def __init__(
        self, index: Index, store: Store, inbox: EventQueue, clock: Callable[[], datetime], *, closely: bool = True
    ) -> None:
        """With `closely`, the text model reads all issues in advance. Otherwise it reads only what a search needs."""
        self._index = index
        self._store = store
        self._inbox = inbox
        self._clock = clock
        self._backfills = store.backfills
        self._closely = closely
        # For each repository: the surplus that remained after the last `_check`.
        self._remaining_surplus: dict[int, int] = {}

    def ready(self, repo_id: int) -> bool:
        """Whether the backfill of a repository is complete."""
        return self._backfills.complete(repo_id)

    def progress(self, repo_id: int) -> Progress:
        return self._backfills.get(repo_id) or Progress()

    def begin(self, repository: Repository, installation: int | None, at: float) -> None:
        """Queue the backfill of a repository to which the bot got access at the time `at` (seconds since 1970).

        Does nothing if the repository is archived, its backfill runs or is done, or an earlier call had the same `at`.
        """
        known = self._backfills.get(repository.id)
        if (known is None or known.stopped) and not repository.archived:
            self._queue(IndexEvent(installation, repository, chain=f"new-{at:.3f}"), 0.0)

    def resync(self) -> None:
        """Queue a step for every active repository. It finds changes whose webhooks got lost, or resumes a backfill."""
        self._queue_round(self._store.repositories.list())

    def resume(self) -> None:
        """When a worker starts, queue a step for repositories with a problem, no backfill, or missing vectors."""
        self._queue_round(one for one in self._store.repositories.list() if self._needs_step(one.id))

    def _needs_step(self, repo_id: int) -> bool:
        progress, issues = self._backfills.get(repo_id), self._index.count(repo_id)
        counts = (self._index.vector_count(repo_id), self._index.text_count(repo_id))
        return progress is None or progress.problem != "" or any(n is not None and n < issues for n in counts)

    def _queue_round(self, repositories: Iterable[StoredRepository]) -> None:
        # A random name, because a time can repeat after somebody has set the clock back.
        chain = f"round-{uuid.uuid4()}"
        for one in repositories:
            if not one.suspended and not one.archived:
                self._queue(IndexEvent(one.installation, one.summary, chain), 0.0)

    def step(self, event: IndexEvent, repository: Repository, github: RepoClient) -> None:
        """Do one step, and queue the next one unless this chain of steps ends. `repository` has the current name."""
        if event.checked is not None:
            # This chain of steps does not read issues, but looks for deleted ones.
            self._check(replace(event, repository=repository), event.checked, github)
            return
        known = self._backfills.get(repository.id)
        if known and event.step == 0 and not known.done and abs(self._now() - known.updated_at) < LOST:
            # Another chain's last step was less than LOST seconds ago (or ahead, after the clock was set back).
            return
        if self._index.is_outdated(repository.id):
            logger.info("%s: its issues are read anew, since this version reads texts differently", repository.ref)
            self._index.forget(repository.id)
            # `forget` erases the progress, too.
            known = self._backfills.get(repository.id)
        started = known or self._record_start(repository.id)
        if started is None:
            return
        try:
            # Look for a surplus only at the end of the chain (`wait` is None): before, unread issues may hide it.
            progress, wait = self._advance(known, repository, github)
            surplus = self._surplus(repository, github) if wait is None else 0
        except Retryable as failure:
            progress, wait, surplus = replace(known or Progress(), problem=str(failure)), retry(failure.after), 0
        if progress.problem:
            logger.warning("%s: the index waits: %s", repository.ref, progress.problem)
        # Save the progress last: if the worker dies before, a rerun queues the same ids, which the queue ignores.
        # A `completed` event asks for the work that follows the first backfill.
        if progress.done and not (known and known.done):
            self._queue(replace(event, repository=repository, completed=True), 0.0)
        if wait is not None:
            self._queue(replace(event, repository=repository, step=event.step + 1), wait)
        elif surplus > self._remaining_surplus.get(repository.id, 0):
            logger.info("%s: issues too many in the index: %d", repository.ref, surplus)
            self._queue(replace(event, repository=repository, step=event.step + 1, checked=0), 0.0)
        self._save_progress(repository.id, started, progress)

    def stop(self, repo_id: int, problem: str) -> None:
        """Record why a repository cannot be read at present; `begin` or the next round tries again."""
        known = self._backfills.get(repo_id)
        # With the time 0, `step` sees that no chain of steps is under way.
        self._backfills.replace(repo_id, known, replace(known or Progress(), problem=problem, updated_at=0.0))

    def put(self, github: RepoClient, repository: Repository, issue: Issue) -> None:
        """Put the current version of an issue into the index. If the model fails, the next round makes the vectors."""
        if problem := self._put_issues(github, repository, [issue]):
            logger.warning("%s#%d: %s", repository.ref, issue.number, problem)

    def remove(self, repo_id: int, number: int) -> None:
        """Remove an issue that was deleted or transferred."""
        self._index.remove(repo_id, [number])

    def _advance(
        self, known: Progress | None, repository: Repository, github: RepoClient
    ) -> tuple[Progress, float | None]:
        """Read some pages. Returns the progress, and the seconds until the next step.

        None instead of seconds ends this chain of steps. If this raises Retryable, nothing was stored.
        """
        progress = known or Progress()
        first = not progress.cursor and not progress.done
        if first:
            progress = replace(progress, expected=self._count(known, repository, github))
        about_total = "" if progress.expected is None else f" of about {progress.expected}"
        if first:
            logger.info("%s: reading its issues into the index: 0%s", repository.ref, about_total)
        pages = read_pages(progress, repository, github)
        if pages.issues:
            # The count does not matter: the call raises NotFound if another repository has the name by now.
            with suppress(Retryable):
                github.count_issues(repository.ref, repository.id)
        problem = self._put_issues(github, repository, pages.issues)
        progress = replace(
            progress,
            cursor=str(pages.position),
            # The ETag is valid only if the next request has the same cursor.
            etag=pages.etag if str(pages.position) == progress.cursor else "",
            seen=self._index.count(repository.id),
            done=progress.done or pages.end,
            problem=str(pages.failure or problem),
        )
        if pages.failure is not None:
            return progress, retry(pages.failure.after)
        if not known or not known.done:
            logger.info("%s: issues in the index: %d%s", repository.ref, progress.seen, about_total)
        if not pages.end:
            return progress, pause(pages.requests, pages.budget)
        return self._complete(progress, repository)

    def _complete(self, progress: Progress, repository: Repository) -> tuple[Progress, float | None]:
        """Make some of the missing vectors, once all issues are read. Returns the same as `_advance`."""
        try:
            embedded = self._index.embed_missing(repository.id, limit=EMBEDDED)
        except EmbeddingError as failure:
            return replace(progress, problem=no_vectors(repository, failure)), None
        if embedded:
            return progress, 0.0
        try:
            text_vectors = self._index.text_vectors if self._closely else None
            if text_vectors and text_vectors.embed_missing(repository.id, limit=READ_CLOSELY):
                return progress, 0.0
        except EmbeddingError as failure:
            # Searches go on without the text model.
            logger.warning("%s: %s", repository.ref, failure)
        return progress, None

    def _count(self, known: Progress | None, repository: Repository, github: RepoClient) -> int | None:
        """The number of issues. Only the first try (no `known`) raises Retryable: GraphQL may fail for good."""
        try:
            return github.count_issues(repository.ref, repository.id)
        except Retryable:
            if known is None:
                raise
            return known.expected

    def _surplus(self, repository: Repository, github: RepoClient) -> int:
        """How many more issues the index has than GitHub; 0 if GitHub does not answer."""
        github_count = None
        with suppress(Retryable):
            github_count = github.count_issues(repository.ref, repository.id)
        if github_count is None:
            return 0
        # GitHub also counts the bot's own issues, which are never in the index.
        own = self._store.own_issues(repository.id)
        return max(0, self._index.count(repository.id) - (github_count - len(own)))

    def _check(self, event: IndexEvent, checked: int, github: RepoClient) -> None:
        """Check the next issues after `checked`: remove those that GitHub no longer has. Queue the next step.

        At the end, record the surplus that remains: only a larger surplus causes a new check.
        """
        repository = event.repository
        numbers = self._index.numbers(repository.id, checked, PAGES * PAGE)
        if not numbers:
            self._remaining_surplus[repository.id] = self._surplus(repository, github)
            return
        for number in github.missing_issues(repository.ref, numbers, repository.id):
            logger.info("%s#%d is no longer there", repository.ref, number)
            self.remove(repository.id, number)
            self._store.forget_issue(repository.id, number)
        self._queue(replace(event, step=event.step + 1, checked=numbers[-1]), delay=PAGES * SLOWLY)

    def _record_start(self, repo_id: int) -> Progress | None:
        """Record a backfill's start, to notice later if the index was erased. None if another step was first."""
        # A negative time is long ago for `step`: so after a crash, this step can run again at once.
        started = Progress(updated_at=-self._now())
        return started if self._backfills.replace(repo_id, None, started) else None

    def _save_progress(self, repo_id: int, started: Progress, progress: Progress) -> None:
        if not self._backfills.replace(repo_id, started, replace(progress, updated_at=self._now())):
            logger.info("repository %d: a step of reading it was overtaken", repo_id)

    def _queue(self, event: IndexEvent, delay: float) -> None:
        self._inbox.put(event.delivery_id, event, delay)

    def _now(self) -> float:
        return self._clock().timestamp()

    def _put_issues(self, github: RepoClient, repository: Repository, issues: Sequence[Issue]) -> str:
        """Put issues into the index. Returns why the issues got no vectors, or ""."""
        own = self._store.own_issues(repository.id)
        issues = [issue for issue in issues if not is_own_issue(issue, own)]
        if not issues:
            return ""
        originals = self._originals(github, repository, issues)
        indexed = [IndexedIssue.of(issue, originals.get(issue.number)) for issue in issues]
        try:
            self._index.put(repository.id, indexed)
        except EmbeddingError as failure:
            self._index.put(repository.id, indexed, embed=False)
            return no_vectors(repository, failure)
        return ""

    def _originals(self, github: RepoClient, repository: Repository, issues: Sequence[Issue]) -> dict[int, int]:
        """The originals of those issues that are duplicates, if GitHub or the command `of` names an original.

        If GraphQL fails, which may be permanent for a repository, the index's earlier originals stand in for GitHub's.
        """
        numbers = list(dict.fromkeys(issue.number for issue in issues if issue.state_reason == "duplicate"))
        try:
            found = github.originals(repository.ref, numbers)
        except Unavailable as failure:
            logger.warning("%s: the originals of its duplicates are not known: %s", repository.ref, failure)
            with self._index.view(repository.id) as view:
                found = {number: row.duplicate_of for number, row in view.issues(numbers).items() if row.duplicate_of}
        originals = {n: found.get(n) or self._store.verdicts.original(repository.id, n) for n in numbers}
        return {number: original for number, original in originals.items() if original}


class StoredRepositoryInfo:
    """The index's `RepositoryInfo`. A `remote` model gets private texts only if the host says `private_too` (C6a)."""

    def __init__(
        self, store: Store, settings: RepositorySettings, forms: IssueForms, *, remote: bool, private_too: bool
    ) -> None:
        self._store = store
        self._settings = settings
        self._forms = forms
        self._remote = remote
        self._private_too = private_too

    def may_embed(self, repo_id: int) -> bool:
        """Whether the model may get texts. A remote model gets private texts only if host and repository agree."""
        if not self._remote:
            return True
        known = self._store.repositories.get(repo_id)
        if known is None:
            return False
        return not known.private or (self._private_too and self._settings.last_read(repo_id).remote_text)

    def form_lines(self, repo_id: int) -> Collection[str]:
        return self._forms.last_lines(repo_id)


def no_vectors(repository: Repository, failure: EmbeddingError) -> str:
    """Why vectors are missing, for people who do not run the host. The log tells the rest."""
    if failure.public_message != str(failure):
        logger.warning("%s: %s", repository.ref, failure)
    return f"vectors: {failure.public_message}"
