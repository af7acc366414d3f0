"""The bot for one event of a workflow: the same handlers, with a token for the App and a queue in memory (X)."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy as sa

from bot.app.action import state
from bot.app.action.runner import RunSummary, WorkflowJob
from bot.app.wiring.clients import now
from bot.app.wiring.indexes import build_index
from bot.conversation.comments import CommentKeeper
from bot.conversation.marker import of_token
from bot.conversation.render.escape import RepoLinks
from bot.deliveries.events import BACKGROUND, CommentEvent, Event, IndexEvent, InstallationEvent, IssueEvent, full_name
from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import DoppelError, GitHubError, Retryable
from bot.github.token import INSTALLATION, TokenGitHub
from bot.platform import settings as host
from bot.platform.addresses import pages_of
from bot.platform.settings import Settings
from bot.search.indexer import Indexer
from bot.search.issue_forms import IssueForms
from bot.search.matching import Matcher
from bot.search.repository_settings import RepositorySettings
from bot.storage import Store, open_store
from bot.storage.replaced import sqlite_file
from handlers import ROUTES, recovery
from handlers.repositories import take_over
from handlers.router import Router
from handlers.scheduled.repository_tasks import keep_digests, look_at_feedback
from handlers.scheduled.retention import erase_old, tidy
from handlers.services import Services


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    """A piece of work, and the seconds to wait before it."""

    event: Event
    delay: float


class MemoryQueue:
    """Work in order of arrival, each piece once; see `handlers.services.Queue`."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._events: deque[QueuedEvent] = deque()
        self._background: deque[QueuedEvent] = deque()

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool:
        """Add a piece of work; False if it is known."""
        if delivery_id in self._known:
            return False
        self._known.add(delivery_id)
        behind = event.partition.startswith(BACKGROUND)
        (self._background if behind else self._events).append(QueuedEvent(event, delay_seconds))
        return True

    def erase(self, repository_id: int, before: float | None = None) -> None:
        """Drop the work in a repository."""
        for steps in (self._events, self._background):
            for step in list(steps):
                if not isinstance(step.event, InstallationEvent) and step.event.repository.id == repository_id:
                    steps.remove(step)

    def close(self) -> None:
        """There is nothing to be closed."""

    def take(self, *, background: bool) -> QueuedEvent | None:
        """The next piece; with `background`, also reading ahead, after all else."""
        if self._events:
            return self._events.popleft()
        return self._background.popleft() if background and self._background else None


logger = logging.getLogger(__name__)

READING = 900.0
"""Seconds for which one run reads ahead. GitHub charges for a private repository's minutes."""

TRIES, LONGEST_WAIT = 3, 60.0
"""How often an event is tried within a run, and the most seconds that are waited before it is tried again."""

# A step that must wait for longer waits for GitHub's limit: the next run goes on.
_SHORT, _LATER = 10.0, 600.0
_ALL = -1
# Not the first step of a chain, which would leave alone what the last run seems to be reading still.
_GOING_ON = 1
# Forms change seldom; the nightly run reads them again.
_FORMS = 86_400.0
# Seconds after an event in which GitHub's API may lag behind it.
_LAG = 30.0


@dataclass
class Workflow:
    """One run. `lines` and `problems` are as in `RunSummary`; `failed` tells whether something was not done."""

    job: WorkflowJob
    settings: Settings
    github: TokenGitHub
    services: Services
    pending: MemoryQueue
    restored: state.Restored
    began: float
    said: int
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    failed: bool = False
    read: int = 0
    repository: Repository | None = None

    def handle(self, event: Event) -> RunSummary:
        """Handle an event of an issue as the App does, then read ahead."""
        assert isinstance(event, IssueEvent | CommentEvent)
        repository = event.repository
        self._register(repository)
        ready = self.services.indexing.ready(repository.id)
        if ready:
            # What has happened since the state was saved, in runs that did not save theirs.
            self._begin_reading(repository)
            self._read_on(1)
        self.pending.put(f"run-{self.job.run}", event)
        self._work()
        if not ready:
            self._begin_reading(repository)
        self._read_on()
        return self.summary(event.number)

    def upkeep(self) -> RunSummary:
        """Do what the App's workers do on a schedule."""
        self.fill()
        for chore in (look_at_feedback, erase_old, tidy, keep_digests):
            try:
                chore(self.services)
            except (GitHubError, Retryable) as failure:
                self.fail(f"{chore.__name__.replace('_', ' ')}: {failure}")
        self._work()
        return self.summary()

    def fill(self) -> bool:
        """Read the repository of a workflow without an event of an issue; return whether all of it is read."""
        repository = self.github.in_repository(INSTALLATION, 0).repository(self.job.repo)
        self._register(repository)
        self._begin_reading(repository)
        self._read_on()
        return self.services.indexing.ready(repository.id)

    def keep(self) -> bool:
        """Pack the state if the next run needs it; return whether it did."""
        database = sqlite_file(self.settings.database_url)
        assert database is not None
        worth = (
            self.restored is not state.Restored.WHOLE
            or not self.job.is_of_an_issue
            or self.read > 1
            or state.feedback_hash(self.services.store) != self.said
            or database.stat().st_size < state.SMALL
        )
        if worth:
            size = state.pack(database, self.job.state)
            logger.info("the state has %.1f MB", size / 1e6)
        return worth

    def _register(self, repository: Repository) -> None:
        """Store the repository, and what was said in it since the state was saved, or ever."""
        self.repository = repository
        take_over(repository, INSTALLATION, self.services)
        client = self.github.in_repository(INSTALLATION, repository.id)
        if not recovery.recover(client, repository, self.services):
            self.problems.append(
                "What people said in earlier threads could not be read again just now; the next run tries again."
            )

    def _work(self) -> None:
        while (step := self.pending.take(background=False)) is not None:
            # No run waits for an hour; a later event of the issue does this work.
            if step.delay < _LATER:
                self._do(step.event)

    def _begin_reading(self, repository: Repository) -> None:
        event = IndexEvent(INSTALLATION, repository, f"run-{self.job.run}", _GOING_ON)
        self.pending.put(event.delivery_id, event)

    def _read_on(self, most: int = _ALL) -> None:
        """Fill the index, or bring it up to date, as far as this run may."""
        while most and (step := self.pending.take(background=True)) is not None:
            if step.delay > _SHORT or time.monotonic() - self.began > READING:
                return
            time.sleep(step.delay)
            if step.event.name == "index":
                self.read += 1
                most -= 1
            self._do(step.event)

    def _do(self, event: Event) -> None:
        """Handle an event, again if GitHub asks to wait for a moment."""
        router = Router(ROUTES)
        for attempt in range(1, TRIES + 1):
            here = replace(self.services, arrived=self.services.now(), delivery=f"run-{self.job.run}")
            try:
                router.dispatch(event, here, new=attempt == 1 and time.monotonic() - self.began < _LAG)
                return
            except Retryable as failure:
                wait = failure.after or 5.0 * attempt
                if attempt == TRIES or wait > LONGEST_WAIT:
                    self.fail(f"{full_name(event)}: {failure}")
                    return
                logger.info("%s: %s; again in %.0f s", full_name(event), failure, wait)
                time.sleep(wait)
            except DoppelError as failure:
                self.fail(f"{full_name(event)}: {failure}")
                return

    def fail(self, why: str) -> None:
        """Note that something could not be done."""
        self.failed = True
        self.problems.append(why)

    def summary(self, number: int = 0) -> RunSummary:
        """The summary of the run, about the issue of this number if there is one."""
        services, repo_id = self.services, self.repository.id if self.repository else 0
        looks = services.store.decisions.of_issue(repo_id, number) if number else []
        began_at = services.now() - (time.monotonic() - self.began)
        decision = next((one for one in reversed(looks) if one.at >= began_at), None)
        kept = services.store.comments.get(repo_id, number) if number else None
        with services.index.view(repo_id) as view:
            rows = view.issues([one.number for one in decision.evidence if one.own] if decision else [])
        if self.repository:
            self._tell_of_settings(self.repository)
        return RunSummary(
            place=RepoLinks(str(self.job.repo), self.settings.enterprise),
            pages=pages_of(self.settings.github_api_url),
            number=number,
            decision=decision,
            comment_id=kept.comment_id if kept else None,
            titles={one: row.title for one, row in rows.items()},
            progress=services.store.backfills.get(repo_id) if self.repository else None,
            lines=self.lines,
            problems=[*self.problems, *self._lacking()],
            failed=self.failed or bool(self.github.refused),
        )

    def _tell_of_settings(self, repository: Repository) -> None:
        client = self.github.in_repository
        loaded = self.services.repository_settings.read(lambda repo_id: client(INSTALLATION, repo_id), repository)
        if loaded.problems and not loaded.private:
            wrong = "; ".join(map(str, loaded.problems))
            self.problems.append(f"{loaded.source}: {wrong}. What is right in it counts.")

    def _lacking(self) -> Iterator[str]:
        """Problems with the restored state and the token's permissions."""
        if self.restored is state.Restored.DAMAGED:
            yield "The state in the cache was damaged, and is made anew."
        if missing := ", ".join(sorted(self.github.refused)):
            yield f"The token lacks {missing}. The workflow needs permissions: {{issues: write, contents: read}}"


@contextmanager
def workflow(job: WorkflowJob) -> Iterator[Workflow]:
    """The bot of one run, with the state from the cache. Raises SettingsError for wrong settings."""
    database = job.home / "doppel.db"
    settings = host.load({**job.settings, "DATABASE_URL": f"sqlite:///{database}"}, job.home / "none.env")
    # Nothing here must survive a power failure: what is lost is read again.
    settings = settings.model_copy(update={"sqlite_synchronous": "OFF"})
    began, restored = time.monotonic(), state.unpack(job.state, database)
    store, restored = _opened(settings, database, restored)
    pending, index = MemoryQueue(), build_index(settings, store)
    github = TokenGitHub(
        settings.github_token, api_url=settings.github_api_url, api_version=settings.github_api_version
    )
    services = Services(
        settings=settings,
        github=github,
        store=store,
        repository_settings=RepositorySettings(store, now),
        issue_forms=IssueForms(store, now, cache_seconds=_FORMS),
        comments=CommentKeeper(store.comments, of_token(github.login), now, alone=False),
        inbox=pending,
        index=index,
        indexing=Indexer(index, store, pending, now, closely=False),
        matcher=Matcher(index),
        clock=now,
        evaluate=_evaluate,
    )
    with closing(store), closing(github):
        yield Workflow(job, settings, github, services, pending, restored, began, state.feedback_hash(store))


def _opened(settings: Settings, database: Path, restored: state.Restored) -> tuple[Store, state.Restored]:
    """The store; a new one if the restored file cannot be used."""
    try:
        store = open_store(settings)
        state.index(store.engine)
        return store, restored
    except sa.exc.SQLAlchemyError:
        if restored is not state.Restored.WHOLE:
            raise
        for end in ("", "-wal", "-shm"):
            Path(f"{database}{end}").unlink(missing_ok=True)
        return open_store(settings), state.Restored.DAMAGED


def _evaluate(repo: RepoRef) -> str:
    """A workflow's events have no dashboard; its own `evaluate` is the command."""
    raise AssertionError(f"an evaluation of {repo} within a workflow's event")
