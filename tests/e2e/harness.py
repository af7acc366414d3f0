"""The whole bot in one process, with a GitHub of its own: what the end-to-end tests are written with.

Deliveries are signed by the simulator and taken by the real Flask application; the real queue on SQLite hands them to a
real worker; the real client speaks real HTTP. Only waiting is shortened: the bot sleeps on the simulated clock.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest
import sqlalchemy as sa

from bot.app.wiring.clients import prepare_databases
from bot.app.wiring.worker_process import build_services, job_handler
from bot.conversation.comments import CommentKeeper
from bot.conversation.marker import of_app
from bot.deliveries import queue as retries
from bot.deliveries import worker as worker_module
from bot.deliveries.database import BACKGROUND_QUEUE, QUEUE, REPLAY_QUEUE, SCHEDULE, jobs, queue_engine, state
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.queue import Queue
from bot.deliveries.worker import Job, Worker
from bot.domain.entities import RepoRef, Repository
from bot.github.client import GitHub
from bot.platform.settings import Settings
from bot.search.index import IndexedIssue
from bot.search.indexer import Indexer
from bot.simulator import Server, Simulator, start_simulator
from bot.simulator.clock import Clock
from bot.simulator.search import Result
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Comment, Issue
from bot.storage import StoredRepository
from bot.storage.engine import write
from bot.storage.repositories import Progress
from handlers.services import Services
from tests.embeddings import remembered
from tests.served import deliver_here
from tests.waiting import LONGEST, wait_until

SECRET = "a-secret-of-the-tests"
BOT = "doppel[bot]"
LEASE = 0.3

# In plain SQL, since it is asked a hundred times a second. What is put off for an hour from the start waits for
# `let_pass`.
_UNFINISHED = f"""
SELECT count(*) FROM jobs WHERE state IN ('waiting', 'running')
AND queue IN ('{QUEUE}', '{BACKGROUND_QUEUE}', '{REPLAY_QUEUE}')
AND NOT (attempts = 0 AND run_after > arrived_at + 1800)
"""
_CHECKED = re.compile(r"Checked on [0-9-]+ [0-9:]+( \S+)?\.")
_REPORTED = re.compile(r"reported [0-9]{4}-[0-9]{2}-[0-9]{2}")
_CONFIDENCE = re.compile(r"(Very likely|Likely|Possibly|Unlikely to be) the same \([0-9]+%\)")
_HEADLINE = re.compile(r"\*\*(Probably reported before|Possibly related):\*\*")
_FINGERPRINT = re.compile(r"(<!-- doppel:advice v1) [0-9a-f]{16} -->")
_owners = itertools.count(1)


@dataclasses.dataclass
class World:
    """Everything that is started once: simulator, receiver, worker. Each test works in a repository of its own."""

    server: Server
    settings: Settings
    services: Services
    queue: sa.Engine
    looks: sqlite3.Connection
    dead_letters: DeadLetters
    # While it is cleared, the worker waits before each job.
    gate: threading.Event = dataclasses.field(default_factory=threading.Event)
    searches: int = 0

    @property
    def sim(self) -> Simulator:
        return self.server.sim

    def unfinished(self) -> int:
        """How many deliveries are queued, at work, or waiting for another try."""
        (count,) = self.looks.execute(_UNFINISHED).fetchone()
        return int(count)

    def settle(self) -> None:
        """Wait until every webhook is delivered and every delivery is worked on, those that this causes included."""

        def settled() -> bool:
            delivered = len(self.sim.webhooks.log)
            self.sim.webhooks.join(LONGEST)
            return not self.unfinished() and len(self.sim.webhooks.log) == delivered

        wait_until(settled, "working on all deliveries")

    def let_pass(self, seconds: float) -> None:
        """Wait until something waits for another try, and let so many seconds pass for it and for GitHub."""
        # What is due already waits for nothing but the worker's next look.
        waits = (state("waiting"), jobs.c.queue != SCHEDULE, jobs.c.run_after > Queue(self.queue).now)
        sooner = sa.update(jobs).where(*waits).values(run_after=jobs.c.run_after - seconds)

        def passed() -> bool:
            with write(self.queue) as connection:
                return connection.execute(sooner).rowcount > 0

        wait_until(passed, "waiting for another try")
        self.sim.clock.advance(seconds)


@contextmanager
def start_world(home: Path) -> Iterator[World]:
    """Start everything, and stop it at the end."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        stack.enter_context(remembered())
        server = stack.enter_context(start_simulator())
        patch.setattr(retries, "_FIRST_WAIT", 0.1)
        patch.setattr(worker_module, "POLL_EVERY", 0.05)
        server.sim.app.hook.secret = SECRET
        settings = Settings(
            home=home,
            database_url=f"sqlite:///{home / 'doppel.db'}",
            app_id=server.app_id,
            private_key=server.private_key_pem,
            webhook_secrets=(SECRET,),
            github_api_url=server.url,
            debounce_seconds=0.2,
            worker_threads=3,
        )
        # Nothing here must survive a power cut.
        settings = settings.model_copy(update={"sqlite_synchronous": "OFF"})
        prepare_databases(settings)
        services = build_services(settings)
        clock = server.sim.clock
        github = _github(services, clock)
        services = dataclasses.replace(
            services,
            github=github,
            clock=clock.now,
            comments=CommentKeeper(services.store.comments, of_app(server.app_id), clock.now, lease=LEASE),
            indexing=Indexer(services.index, services.store, services.inbox, clock.now),
        )
        deliver_here(server, settings)
        queue = queue_engine(settings)
        looks = stack.enter_context(closing(sqlite3.connect(str(queue.url.database), check_same_thread=False)))
        world = World(server, settings, services, queue, looks, DeadLetters(settings))
        world.gate.set()

        def work(job: Job) -> None:
            world.gate.wait(LONGEST)
            job_handler(world.services)(job)

        def search(*arguments: Any, **options: Any) -> Result:
            world.searches += 1
            return index_search(*arguments, **options)

        index_search = server.sim.index.search
        patch.setattr(server.sim.index, "search", search)
        worker = Worker(settings, work)
        worker.start()
        try:
            yield world
        finally:
            worker.stop(2.0)
            world.queue.dispose()
            world.dead_letters.close()
            services.inbox.close()
            services.store.close()
            github.close()


def _github(services: Services, clock: Clock, *, ahead: float = 0.0, timeout: float = LONGEST) -> GitHub:
    """The client of a host whose clock is so many seconds ahead of GitHub's, and which waits so long for an answer."""
    settings = services.settings
    return GitHub(
        app_id=settings.app_id,
        private_key=settings.private_key,
        api_url=settings.github_api_url,
        timeout=timeout,
        clock=lambda: clock.timestamp() + ahead,
        monotonic=clock.timestamp,
        sleep=clock.advance,
        jitter=lambda: 0.0,
    )


class _Unready(Indexer):
    """An index that is still being filled."""

    def progress(self, repo_id: int) -> Progress:
        return dataclasses.replace(super().progress(repo_id), done=False)


class _Settling:
    """The simulator, whose every call returns only when the bot has done what follows from it."""

    def __init__(self, doppel: Doppel) -> None:
        self._doppel = doppel

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def act(*arguments: Any, **options: Any) -> Any:
            made = getattr(self._doppel.sim, name)(*arguments, **options)
            self._doppel.settle()
            return made

        return act


class Doppel:
    """One test's repository `acme/app` (under another owner each time, which what is shown leaves out)."""

    def __init__(self, world: World, settings: str = "mode: comment\n") -> None:
        self.world = world
        self.sim = world.sim
        self.owner = f"acme-{next(_owners)}"
        self.repo = f"{self.owner}/app"
        self.repository = self.sim.add_repository(self.repo)
        self.configure(settings)
        self._seen: set[tuple[int, str]] = set()
        self._install()
        for role in ("triage", "write", "maintain", "admin"):
            self.sim.set_permission(self.repo, f"{role}-person", role)

    def _install(self) -> None:
        """What the news of an installation and the first reading leave of an empty repository.

        The way there takes as long as two issues, and is the same in every test; `test_c6a_access.py` goes it.
        """
        with self.unheard():
            installation = self.sim.install(self.repo)
        summary = Repository(self.repository.id, RepoRef(self.owner, "app"), private=False)
        store, now = self.services.store, self.services.now()
        store.repositories.upsert(summary, installation.id, now)
        store.backfills.set(summary.id, Progress(expected=0, done=True, updated_at=now))

    @property
    def services(self) -> Services:
        return self.world.services

    @property
    def do(self) -> Simulator:
        """Let something happen on GitHub, and the bot do its work after it."""
        return cast("Simulator", _Settling(self))

    @property
    def known(self) -> StoredRepository:
        """The repository as the bot has it."""
        known = self.services.store.repositories.get(self.repository.id)
        assert known is not None
        return known

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """GitHub delivers nothing of what happens inside."""
        with mock.patch.object(self.sim.app.hook, "url", ""):
            yield

    @contextmanager
    def worker_away(self) -> Iterator[None]:
        """What happens inside is delivered, and worked on only afterwards."""
        self.world.gate.clear()
        try:
            yield
            self.sim.webhooks.join()
        finally:
            self.world.gate.set()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The host has paused the bot."""
        running = self.world.services
        settings = running.settings.model_copy(update={"paused": True})
        self.world.services = dataclasses.replace(running, settings=settings)
        try:
            yield
        finally:
            self.world.services = running

    @contextmanager
    def clock_ahead(self, days: float) -> Iterator[None]:
        """The host's clock is so many days ahead of GitHub's."""
        running, clock, ahead = self.world.services, self.sim.clock, timedelta(days=days)
        github = _github(running, clock, ahead=ahead.total_seconds())
        self.world.services = dataclasses.replace(running, github=github, clock=lambda: clock.now() + ahead)
        try:
            yield
        finally:
            self.world.services = running
            github.close()

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """The bot waits a second (a real one) for an answer of GitHub's, for tests in which there comes none."""
        running = self.world.services
        github = _github(running, self.sim.clock, timeout=1.0)
        self.world.services = dataclasses.replace(running, github=github)
        try:
            yield
        finally:
            self.world.services = running
            github.close()

    @contextmanager
    def before_backfill(self) -> Iterator[None]:
        """The index of no repository is complete yet."""
        running = self.world.services
        indexing = _Unready(running.index, running.store, running.inbox, running.clock)
        self.world.services = dataclasses.replace(running, indexing=indexing)
        try:
            yield
        finally:
            self.world.services = running

    def searches(self) -> int:
        """How many searches GitHub has been asked for so far."""
        return self.world.searches

    def configure(self, settings: str) -> None:
        """Commit `.github/doppel.yml`."""
        self.sim.write_file(self.repo, ".github/doppel.yml", settings)
        self.settle()

    def settle(self) -> None:
        """See World.settle."""
        self.world.settle()

    def turn(self, chore: Callable[[Services], None]) -> None:
        """One turn of a chore in this repository alone: those of all tests before lie in the same world."""
        repositories = self.services.store.repositories
        known = repositories.get(self.repository.id)
        with mock.patch.object(repositories, "list", return_value=[known] if known else []):
            chore(self.services)

    def look_again(self) -> None:
        """The round of indexing."""
        self.turn(lambda services: services.indexing.look_again())

    def open(self, title: str, body: str = "", author: str | Account = "reporter", **more: Any) -> Issue:
        """A person opens an issue, and the bot has done its work when this returns."""
        # GitHub answers ten searches by meaning a minute, and nobody writes faster than that.
        self.sim.clock.advance(7)
        issue = self.sim.open_issue(self.repo, author, title, body, **more)
        self.settle()
        return issue

    def read_before(self, title: str, body: str = "", author: str = "ann") -> None:
        """An issue of before the installation, which the bot has read into its index. It takes a tenth of `open`."""
        self.sim.clock.advance(7)
        with self.unheard():
            issue = self.sim.open_issue(self.repo, author, title, body)
        at = issue.created_at.timestamp()
        row = IndexedIssue(issue.number, title, body, author=author, created_at=at, updated_at=at, id=issue.id)
        self.services.index.put(self.repository.id, [row])

    def write(self, number: int, body: str, login: str = "reporter") -> Comment:
        """A person comments, and the bot has done its work when this returns."""
        comment = self.sim.comment(self.repo, number, login, body)
        self.settle()
        return comment

    def edit(self, comment: Comment, body: str, login: str | None = None) -> None:
        """Somebody edits a comment, by default its author."""
        self.sim.edit_comment(comment, body, login)
        self.settle()

    def said(self, number: int) -> list[str]:
        """Everything that the bot has said on an issue, as it stands now. What is never asked for fails the test."""
        comments = self._own(number)
        # Both forms: a minute that begins after this look changes one, a new name of the repository the other.
        self._seen |= {(comment.id, form) for comment in comments for form in self._forms(comment)}
        return [self.plain(comment.body) for comment in comments]

    def advice(self, number: int) -> str:
        """The one comment that the bot has made on an issue, without the folded part."""
        (comment,) = self.said(number)
        return comment.partition("\n\n<details>")[0]

    def reactions(self, comment: Comment) -> list[str]:
        """How the bot reacted to a comment, in order."""
        return [reaction.content for reaction in comment.reactions if reaction.user.login == BOT]

    def plain(self, body: str) -> str:
        """A comment without what differs each time (owner, fingerprint, times) and without how sure the model is."""
        body = _FINGERPRINT.sub(r"\1 -->", body.replace(self.repo, "acme/app"))
        body = _REPORTED.sub("reported DAY", _HEADLINE.sub("HEADLINE", _CONFIDENCE.sub("CONFIDENCE", body)))
        return _CHECKED.sub("Checked on DAY.", body)

    def finish(self) -> None:
        """What must hold at the end of every test."""
        self.settle()
        self.sim.faults.clear()
        leftover = [
            f"#{issue.number}: {comment.body}"
            for issue in self.sim.issues_of(self.repository)
            for comment in self._own(issue.number)
            if self._seen.isdisjoint((comment.id, form) for form in self._forms(comment))
        ]
        assert not leftover, "the bot said something that the test does not mention"
        assert self.sim.unknown_requests == []
        assert self.sim.violations == []
        assert self.world.dead_letters.list() == []

    def _forms(self, comment: Comment) -> tuple[str, str]:
        return comment.body, self.plain(comment.body)

    def _own(self, number: int) -> list[Comment]:
        return [comment for comment in self.sim.comments(self.repo, number) if comment.author.login == BOT]
