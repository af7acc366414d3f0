"""Runs the bot as hosts do, against the simulator, and plays the scenes: acts for people, and waits for the bot."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from bot.app.demo.scenario import Expect, Scene, SceneCommand
from bot.app.demo.terminal import Lines, Terminal
from bot.deliveries.database import jobs, queue_engine
from bot.domain.decisions import Decision
from bot.domain.errors import DoppelError
from bot.platform import settings as host
from bot.platform.local import free_port, is_well
from bot.platform.private_files import make_file, replace_file
from bot.platform.processes import GUNICORN, WORKER, Supervisor
from bot.platform.settings import VARIABLES, Settings
from bot.simulator import Server, Simulator, references
from bot.simulator.state.issues import Comment, Issue
from bot.storage.decisions import Decisions
from bot.storage.engine import make_engine
from bot.storage.repositories import Backfills, Progress

READY_WITHIN_SECONDS = 180.0
POLL_SECONDS = 0.02
LOG = "processes.log"

T = TypeVar("T")


class BotProcesses:
    """The running web and worker, their `settings`, and the address `receiver` for deliveries."""

    def __init__(self, settings: Settings, supervisor: Supervisor) -> None:
        self.settings = settings
        self.receiver = f"http://127.0.0.1:{settings.port}/webhook"
        self.pid = supervisor.pid
        self._supervisor = supervisor
        self._engine = queue_engine(settings, pool_size=1)
        self._store = make_engine(settings.database_url, pool_size=1)

    def check(self) -> None:
        """Restart a process that has died; raise Unavailable for one that keeps dying."""
        self._supervisor.check(time.monotonic())

    def takes_deliveries(self) -> bool:
        return is_well(self.receiver.replace("/webhook", "/readyz"))

    def done(self, delivery_id: str) -> bool:
        with self._engine.connect() as connection:
            return connection.scalar(sa.select(jobs.c.state).where(jobs.c.id == delivery_id)) == "done"

    def progress(self, repo_id: int) -> Progress | None:
        """How far the index of a repository is; None before it has begun."""
        return Backfills(self._store).get(repo_id)

    def decided(self, repo_id: int, number: int) -> Decision | None:
        return next(reversed(Decisions(self._store).of_issue(repo_id, number)), None)

    def close(self) -> None:
        self._engine.dispose()
        self._store.dispose()
        self._supervisor.stop()


@contextmanager
def running_bot(server: Server, home: Path, database_url: str = "") -> Iterator[BotProcesses]:
    """Run web and worker during a `with` block, with data and log in `home` and none of this machine's settings."""
    environ = environment(server, home, database_url)
    make_file(home / LOG)
    with (home / LOG).open("wb") as log:
        # Only this machine can reach the demo.
        web = (*GUNICORN, "--bind", f"127.0.0.1:{environ['PORT']}")
        supervisor = Supervisor({"web": web, "worker": WORKER}, environ, cwd=home, output=log)
        processes = BotProcesses(host.load(environ, home / ".env"), supervisor)
        try:
            supervisor.start()
            yield processes
        except DoppelError as problem:
            # The log is deleted with the directory, so its end goes with the error.
            last = (home / LOG).read_text("utf-8", "replace").splitlines()[-20:]
            problem.add_note("\n".join(("What web and worker wrote last:", *last)))
            raise
        finally:
            processes.close()


class ShowFailed(DoppelError):
    """Something that the script promises did not happen. The message says what."""


def wait_for(
    processes: BotProcesses, what: str, happened: Callable[[], T | None], seconds: float = READY_WITHIN_SECONDS
) -> T:
    """Wait until something has happened; raise ShowFailed naming it if that takes longer than `seconds`."""
    end = time.monotonic() + seconds
    while not (result := happened()):
        processes.check()
        if time.monotonic() > end:
            raise ShowFailed(f"no {what} within {seconds:g} s")
        time.sleep(POLL_SECONDS)
    return result


def environment(server: Server, home: Path, database_url: str) -> dict[str, str]:
    """The environment of web and worker, without the machine's settings. Writes the private key into `home`."""
    key = home / "key.pem"
    replace_file(key, [server.private_key_pem])
    setting_names = {variable.name for variable in VARIABLES}
    return {name: value for name, value in os.environ.items() if name not in setting_names} | {
        "APP_ID": str(server.app_id),
        "PRIVATE_KEY_PATH": str(key),
        "WEBHOOK_SECRET": server.webhook_secret,
        "GITHUB_API_URL": server.url,
        "DATABASE_URL": database_url or f"sqlite:///{home / 'doppel.db'}",
        "DOPPEL_HOME": str(home),
        "PORT": str(free_port()),
        "WEB_CONCURRENCY": "1",
        "LOG_LEVEL": "INFO",
    }


# An answer takes about a second, and several on a busy machine.
PATIENCE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Show:
    """A show in one repository of the simulator, reported to `_tell`; each wait takes at most `_patience` seconds."""

    _sim: Simulator
    _repository: str
    _bot: BotProcesses
    _tell: Terminal | Lines
    _patience: float = PATIENCE_SECONDS

    def play(self, scenes: Sequence[Scene]) -> None:
        began = time.monotonic()
        for number, scene in enumerate(scenes, 1):
            self._tell.scene_begins(number=number, total=len(scenes), heading=scene.heading)
            self._play(scene)
        self._tell.checked(what=self._check_no_pings())
        self._tell.finished(scenes=len(scenes), seconds=time.monotonic() - began)

    def _play(self, scene: Scene) -> None:
        issue = self._sim.open_issue(
            self._repository, scene.login, scene.title, scene.body, created_at=scene.created_at
        )
        number, opened = issue.number, time.monotonic()
        self._tell.issue_opened(number=number, title=scene.title, body=scene.body, login=scene.login)
        if scene.expect is not Expect.COMMENT:
            self._wait_for_job(f"work on #{number}", "issue", "number", number)
            if self._advice(issue) is None:
                self._report_silence(number, time.monotonic() - opened)
                return
            if scene.expect is Expect.SILENCE:
                raise ShowFailed(f"the bot was to stay silent on #{number} and commented")
        comment = self._wait(f"comment on #{number}", lambda: self._advice(issue))
        for shown in scene.shows:
            if f"/issues/{shown})" not in comment.body:
                raise ShowFailed(f"the comment on #{number} does not name #{shown}")
        seconds = time.monotonic() - opened
        self._tell.commented(number=number, body=comment.body, seconds=seconds, unfold=scene.unfold)
        for command in scene.commands:
            self._run_command(command, issue, comment)

    def _report_silence(self, number: int, seconds: float) -> None:
        decision = self._bot.decided(self._sim.repository(self._repository).id, number)
        # There is no decision about an issue that a bot has opened.
        reason, threshold = (decision.reason, decision.threshold) if decision else ("it was not looked at", 0.0)
        own = next((one for one in decision.evidence if one.own), None) if decision else None
        title = self._sim.issue(self._repository, own.number).title if own else ""
        nearest = (own.number, title, own.probability) if own else None
        self._tell.stayed_silent(number=number, seconds=seconds, reason=reason, bar=threshold, nearest=nearest)

    def _run_command(self, command: SceneCommand, issue: Issue, advice: Comment) -> None:
        before, number = advice.body, issue.number
        self._tell.command_given(number=number, login=command.login, text=command.text, note=command.note)
        asked = self._sim.comment(self._repository, number, command.login, command.text)
        began = time.monotonic()
        what = f"answer to {command.text.splitlines()[-1]!r} on #{number}"
        self._wait(what, lambda: self._answered(command, asked, advice, before))
        # The bot posts a reply only after the 👍: wait until the job is done.
        self._wait_for_job(what, "comment", "id", asked.id)
        seconds = time.monotonic() - began
        for reply in self._replies(asked):
            self._tell.replied(number=number, body=reply.body, seconds=seconds)
        if advice.body != before:
            self._tell.edited(number=number, before=before, body=advice.body, seconds=seconds)
        if issue.state == "closed" and issue.duplicate_of is not None:
            self._tell.issue_closed(number=number, original=issue.duplicate_of.number, seconds=seconds)

    def _answered(self, command: SceneCommand, asked: Comment, advice: Comment, before: str) -> bool:
        # The command's comment gets the bot's 👍 (C4).
        if not any(reaction.content == "+1" for reaction in asked.reactions):
            return False
        if command.expect is Expect.CLOSED:
            return asked.issue.state == "closed" and asked.issue.state_reason == "duplicate"
        if command.expect is Expect.REPLY:
            return any(command.contains in reply.body for reply in self._replies(asked))
        unwanted = command.lacks and f"/issues/{command.lacks})" in advice.body
        return advice.body != before and command.contains in advice.body and not unwanted

    def _replies(self, asked: Comment) -> list[Comment]:
        comments = self._sim.comments(self._repository, asked.issue.number)
        return [one for one in comments[comments.index(asked) :] if one.author is self._sim.app.bot]

    def _advice(self, issue: Issue) -> Comment | None:
        comments = self._sim.comments(self._repository, issue.number)
        return next((comment for comment in comments if comment.author is self._sim.app.bot), None)

    def _check_no_pings(self) -> str:
        """Check that GitHub finds no mention and no back-link in the bot's comments."""
        with self._sim.lock:
            issues = self._sim.issues_of(self._sim.repository(self._repository))
            written = [one for issue in issues for one in issue.comments if one.author is self._sim.app.bot]
        for comment in written:
            found = references.parse(comment.body, self._sim.urls.html)
            if found.mentions or found.issues or found.duplicate_of:
                raise ShowFailed(f"the comment on #{comment.issue.number} disturbs others: {found}")
        return f"in {len(written)} comments the bot mentioned nobody and left no back-link on any issue"

    def _wait_for_job(self, what: str, kind: str, key: str, value: int) -> None:
        """Wait until the job of the latest delivery about an issue or a comment is done."""
        log = reversed(self._sim.webhooks.log)
        guid = next(one.guid for one in log if one.payload.get(kind, {}).get(key) == value)
        self._wait(f"end of the {what}", lambda: self._bot.done(guid))

    def _wait(self, what: str, happened: Callable[[], T | None]) -> T:
        return wait_for(self._bot, what, happened, self._patience)
