"""What the end-to-end tests are written with: a repository of their own in the running bot (`tests.e2e.world`)."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, cast
from unittest import mock

from bot.domain.entities import RepoRef, Repository
from bot.search.index import IndexedIssue
from bot.search.indexer import Indexer
from bot.simulator import Simulator
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Comment, Issue
from bot.storage import StoredRepository
from bot.storage.repositories import Progress
from handlers.services import Services
from tests.e2e.world import World, client

BOT = "doppel[bot]"

_CHECKED = re.compile(r"Checked on [0-9-]+ [0-9:]+( \S+)?\.")
_REPORTED = re.compile(r"reported [0-9]{4}-[0-9]{2}-[0-9]{2}")
_CONFIDENCE = re.compile(r"(Very likely|Likely|Possibly|Unlikely to be) the same \([0-9]+%\)")
_HEADLINE = re.compile(r"\*\*(Probably reported before|Possibly related):\*\*")
_FINGERPRINT = re.compile(r"(<!-- doppel:advice v1) [0-9a-f]{16} -->")
_owners = itertools.count(1)


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
        github = client(running, clock, ahead=ahead.total_seconds())
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
        github = client(running, self.sim.clock, timeout=1.0)
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

    def resync(self) -> None:
        """The round of indexing."""
        self.turn(lambda services: services.indexing.resync())

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
