"""The bot without its processes: real handlers, store, index and client, a simulated GitHub, and a queue in memory.

On both databases, but for tests whose every statement others also run on PostgreSQL. Waiting moves the simulated clock,
so that hours cost nothing.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from bot.app.wiring.worker_process import build_services, job_handler
from bot.deliveries.events import Event, Ignored, IndexEvent
from bot.deliveries.inbox import Inbox
from bot.deliveries.payloads import parse
from bot.deliveries.worker import Job
from bot.github.changes import ChangesPage
from bot.github.client import GitHub
from bot.github.repository import RepoClient
from bot.platform.settings import Settings
from bot.search.embedding import Embedder
from bot.search.index import Index, IndexedIssue, Query, TextAnalyser, binary
from bot.search.indexer import Indexer, StoredRepositoryInfo
from bot.search.issue_forms import IssueForms
from bot.search.matching import Matcher
from bot.search.repository_settings import RepositorySettings
from bot.simulator import Server, Simulator, start_simulator
from bot.storage.repositories import Progress
from handlers.services import Services
from tests.index.conftest import model

__all__ = ["model"]

REPO = "acme/app"

on_one_database = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
"""For a test of what is asked and decided, which is Python's: the statements that it needs are run on PostgreSQL by the
other tests here, and by those of store, index and queue."""


class Queue:
    """What `Inbox` does, in memory: each delivery id once, in the order of becoming due."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._serial = itertools.count()
        self._waiting: list[tuple[float, int, str, Event]] = []
        self.known: set[str] = set()
        self.delays: list[float] = []

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool:
        if delivery_id in self.known:
            return False
        self.known.add(delivery_id)
        self.delays.append(delay_seconds)
        heapq.heappush(self._waiting, (self._now() + delay_seconds, next(self._serial), delivery_id, event))
        return True

    def back(self, due: float, delivery_id: str, event: Event) -> None:
        """Give back what was taken, because whoever took it has died."""
        heapq.heappush(self._waiting, (due, next(self._serial), delivery_id, event))

    def running(self, partitions: Collection[str]) -> set[str]:
        """No job runs beside another here."""
        return set()

    def lose(self) -> None:
        """Forget what waits, as if it had never arrived."""
        self._waiting.clear()

    def erase(self, repository_id: int, before: float | None = None) -> None:
        """What is queued for a repository that is no longer ours finds that out by itself."""

    def take(self) -> tuple[float, str, Event] | None:
        if not self._waiting:
            return None
        due, _, delivery_id, event = heapq.heappop(self._waiting)
        return due, delivery_id, event

    def close(self) -> None: ...


class Host:
    """Somebody who runs the bot for `acme/app`, on which it is not installed yet."""

    def __init__(self, server: Server, database_url: str, home: Path, patch: pytest.MonkeyPatch) -> None:
        self.sim: Simulator = server.sim
        self.repo_id = self.sim.add_repository(REPO).id
        self.pages: list[ChangesPage] = []
        clock = self.sim.clock
        self.queue = Queue(clock.timestamp)
        self._settings = Settings(
            home=home,
            database_url=database_url,
            app_id=server.app_id,
            private_key=server.private_key_pem,
            webhook_secrets=("a-secret",),
            github_api_url=server.url,
        )
        github = GitHub(
            app_id=server.app_id,
            private_key=server.private_key_pem,
            api_url=server.url,
            clock=clock.timestamp,
            monotonic=clock.timestamp,
            sleep=clock.advance,
            jitter=lambda: 0.0,
        )
        built = build_services(self._settings)
        built.inbox.close()
        self.services: Services = dataclasses.replace(
            built,
            github=github,
            # It has what of the inbox is asked for, and nothing else.
            inbox=cast("Inbox", self.queue),
            clock=clock.now,
            repository_settings=RepositorySettings(built.store, clock.now),
            issue_forms=IssueForms(built.store, clock.now),
        )
        self.use(None)
        self.sim.webhooks.post = self._deliver
        self.sim.app.hook.url = "http://receiver.example/webhook"
        listed = RepoClient.changed_issues

        def noted(client: RepoClient, *arguments: Any, **options: Any) -> ChangesPage:
            page = listed(client, *arguments, **options)
            self.pages.append(page)
            return page

        patch.setattr(RepoClient, "changed_issues", noted)

    def use(self, model: Embedder | None, *, private_too: bool = False, analyser: TextAnalyser | None = None) -> None:
        """The host's choice of a model, from now on; and how texts are read, if not as this version does."""
        services = self.services
        facts = StoredRepositoryInfo(
            services.store,
            services.repository_settings,
            services.issue_forms,
            remote=model is not None and model.remote,
            private_too=private_too,
        )
        index = Index(services.store.engine, analyser or TextAnalyser(), model, facts)
        indexing = Indexer(index, services.store, self.queue, services.clock)
        self.services = dataclasses.replace(services, index=index, indexing=indexing, matcher=Matcher(index))

    def work(self, steps: int | None = None) -> None:
        """Work on what is queued until nothing is, or on so many pieces."""
        done = 0
        while steps is None or done < steps:
            self.sim.webhooks.join()
            taken = self.queue.take()
            if taken is None:
                return
            due, delivery_id, event = taken
            self.sim.clock.advance(max(0.0, due - self.sim.clock.timestamp()))
            job_handler(self.services)(Job(delivery_id, event, 1, self.sim.clock.timestamp()))
            done += 1

    def install(self) -> None:
        self.sim.install(REPO)
        self.work()

    def install_quietly(self) -> None:
        """Install, with only the first step of the index in the queue."""
        self.sim.install(REPO)
        self.work(1)

    def note(self, progress: Progress) -> None:
        self.services.store.backfills.set(self.repo_id, progress)

    def round(self) -> None:
        """The chore of looking again, half an hour later."""
        self.sim.clock.advance(1_800)
        self.services.indexing.resync()
        self.work()

    def look(self) -> None:
        """Look again at once, in a chain of its own."""
        known = self.services.store.repositories.get(self.repo_id)
        assert known is not None
        event = IndexEvent(known.installation, known.summary, f"look {len(self.queue.delays)}")
        self.queue.put(event.delivery_id, event)
        self.work()

    def load(self, count: int, **more: Any) -> None:
        """Issues that were there before, one a minute."""
        rows = [
            {
                "id": number,
                "title": f"Report {number} about part{number}x",
                "body": f"It says error{number}y.",
                "created_at": f"2026-01-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z",
                **more,
            }
            for number in range(1, count + 1)
        ]
        self.sim.load_issues(rows, REPO)

    def progress(self) -> Progress | None:
        return self.services.store.backfills.get(self.repo_id)

    def known_progress(self) -> Progress:
        progress = self.progress()
        assert progress is not None
        return progress

    def miss(self) -> None:
        """What has just happened on GitHub is heard of by nobody."""
        self.sim.webhooks.join()
        self.queue.lose()

    def indexed(self) -> dict[int, IndexedIssue]:
        with self.services.index.view(self.repo_id) as view:
            return view.issues(range(1, 2_000))

    def found(self, word: str) -> list[int]:
        """The issues in which a word occurs."""
        index = self.services.index
        with index.view(self.repo_id) as view:
            terms = view.look_up(index.analyse(self.repo_id, word, ""))["title"].terms
            queries = [Query("words", terms[i : i + 1], np.ones(1), binary()) for i in range(len(terms))]
            each = [scores.numbers for scores in view.search_all(queries)]
        return sorted(set.intersection(*(set(numbers.tolist()) for numbers in each)))

    def _deliver(self, url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        event = parse(headers["X-GitHub-Event"], json.loads(body))
        if not isinstance(event, Ignored):
            self.queue.put(headers["X-GitHub-Delivery"], event)
        return 202, {}, ""


@pytest.fixture
def host(store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    with start_simulator() as server:
        host = Host(server, store_url, tmp_path, monkeypatch)
        yield host
        host.services.store.close()
        host.services.github.close()
        assert server.sim.unknown_requests == []
        assert server.sim.violations == []
