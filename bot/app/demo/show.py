"""Runs one demo on the simulated GitHub. The bot runs as in production; people act and wait for its answers."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from werkzeug.serving import make_server

from bot.app.demo.page import create_page
from bot.app.demo.scenario import ABOUT, ROLES, Expect, Scene, SceneCommand, script, seed, split
from bot.app.demo.terminal import Lines, Terminal
from bot.deliveries.database import jobs, queue_engine
from bot.domain.errors import DoppelError, UserError
from bot.platform import local
from bot.platform import settings as host
from bot.platform.private_files import make_file
from bot.platform.processes import GUNICORN, WORKER, Supervisor
from bot.platform.settings import VARIABLES, Settings
from bot.simulator import Server, Simulator, references, start_simulator
from bot.simulator.state.issues import Comment, Issue
from bot.storage.decisions import Decisions
from bot.storage.engine import make_engine
from bot.storage.repositories import Backfills

# With more issues than this, the show begins with GitHub's search and does not wait for the index.
MAX_ISSUES_TO_WAIT_FOR = 2_000
# An answer takes about a second, or several seconds on a busy machine.
READY_WITHIN_SECONDS, ANSWER_WITHIN_SECONDS = 180.0, 15.0
LOG = "processes.log"


@dataclass(frozen=True, slots=True)
class BotProcesses:
    """The running web and worker, with the databases of their queue and store."""

    settings: Settings
    supervisor: Supervisor
    queue: sa.Engine
    store: sa.Engine

    @property
    def receiver(self) -> str:
        return f"{self.settings.local_url}/webhook"

    def check(self) -> None:
        """Restart a process that has died; raise Unavailable for one that keeps dying."""
        self.supervisor.check(time.monotonic())

    def takes_deliveries(self) -> bool:
        return local.is_well(f"{self.settings.local_url}/readyz")

    def done(self, delivery_id: str) -> bool:
        with self.queue.connect() as connection:
            return connection.scalar(sa.select(jobs.c.state).where(jobs.c.id == delivery_id)) == "done"


@contextmanager
def running_bot(server: Server, home: Path, database_url: str = "") -> Iterator[BotProcesses]:
    """Run web and worker during a `with` block. Data and log lie in `home`. This machine's settings do not count."""
    environ = environment(server, home, database_url)
    settings = host.load(environ, home / ".env")
    queue, store = queue_engine(settings, pool_size=1), make_engine(settings.database_url, pool_size=1)
    make_file(home / LOG)
    with (home / LOG).open("wb") as log:
        supervisor = Supervisor({"web": GUNICORN, "worker": WORKER}, environ, cwd=home, output=log)
        try:
            supervisor.start()
            yield BotProcesses(settings, supervisor, queue, store)
        except DoppelError as problem:
            # The log is deleted with its directory, so add the last lines to the error.
            last = (home / LOG).read_text("utf-8", "replace").splitlines()[-20:]
            problem.add_note("\n".join(("What web and worker wrote last:", *last)))
            raise
        finally:
            queue.dispose()
            store.dispose()
            supervisor.stop()


class ShowFailed(DoppelError):
    """Something that the script promises did not happen."""


def wait_for(
    processes: BotProcesses, what: str, happened: Callable[[], object], seconds: float = READY_WITHIN_SECONDS
) -> None:
    """Wait until something has happened; raise ShowFailed naming it if that takes longer than `seconds`."""
    end = time.monotonic() + seconds
    while not happened():
        processes.check()
        if time.monotonic() > end:
            raise ShowFailed(f"no {what} within {seconds:g} s")
        time.sleep(0.02)


def environment(server: Server, home: Path, database_url: str) -> dict[str, str]:
    """The environment of web and worker, without the machine's settings."""
    setting_names = {variable.name for variable in VARIABLES}
    return {name: value for name, value in os.environ.items() if name not in setting_names} | {
        "APP_ID": str(server.app_id),
        "PRIVATE_KEY": server.private_key_pem,
        "WEBHOOK_SECRET": server.webhook_secret,
        "GITHUB_API_URL": server.url,
        "DATABASE_URL": database_url or f"sqlite:///{home / 'doppel.db'}",
        "DOPPEL_HOME": str(home),
        "DOPPEL_HOST": "127.0.0.1",
        "PORT": str(local.free_port()),
        "WEB_CONCURRENCY": "1",
    }


@dataclass(frozen=True, slots=True)
class Show:
    """A show in one repository of the simulator, reported to `_tell`; each wait takes at most `_patience` seconds."""

    _sim: Simulator
    _repository: str
    _bot: BotProcesses
    _tell: Terminal | Lines
    _patience: float = ANSWER_WITHIN_SECONDS

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
        if scene.expect is not Expect.COMMENT:  # `SILENCE` or `ANYTHING`
            self._wait_for_job(f"work on #{number}", "issue", "number", number)
            if not self._bot_comments(issue):
                self._report_silence(number, time.monotonic() - opened)
                return
            if scene.expect is Expect.SILENCE:
                raise ShowFailed(f"the bot was to stay silent on #{number} and commented")
        wait_for(self._bot, f"comment on #{number}", lambda: self._bot_comments(issue), self._patience)
        comment = self._bot_comments(issue)[0]
        for shown in scene.shows:
            if f"/issues/{shown})" not in comment.body:
                raise ShowFailed(f"the comment on #{number} does not name #{shown}")
        seconds = time.monotonic() - opened
        self._tell.commented(number=number, body=comment.body, seconds=seconds, unfold=scene.unfold)
        for command in scene.commands:
            self._run_command(command, issue, comment)

    def _report_silence(self, number: int, seconds: float) -> None:
        repo_id = self._sim.repository(self._repository).id
        decision = next(reversed(Decisions(self._bot.store).of_issue(repo_id, number)), None)
        # There is no decision about an issue that a bot has opened.
        reason, threshold = (decision.reason, decision.threshold) if decision else ("it was not looked at", 0.0)
        # `own` evidence is about an issue of this repository. The best comes first.
        likeliest = next((one for one in decision.evidence if one.own), None) if decision else None
        title = self._sim.issue(self._repository, likeliest.number).title if likeliest else ""
        nearest = (likeliest.number, title, likeliest.probability) if likeliest else None
        self._tell.stayed_silent(number=number, seconds=seconds, reason=reason, bar=threshold, nearest=nearest)

    def _run_command(self, command: SceneCommand, issue: Issue, advisory: Comment) -> None:
        # `issue`, `advisory` and `asked` are the simulator's objects: the bot changes them.
        before, number = advisory.body, issue.number
        self._tell.command_given(number=number, login=command.login, text=command.text, note=command.note)
        asked = self._sim.comment(self._repository, number, command.login, command.text)
        began = time.monotonic()
        what = f"answer to {command.text.splitlines()[-1]!r} on #{number}"
        wait_for(self._bot, what, lambda: self._answered(command, asked, advisory, before), self._patience)
        # A reply may still follow the 👍, so wait until the job is done.
        self._wait_for_job(what, "comment", "id", asked.id)
        seconds = time.monotonic() - began
        for reply in self._bot_comments(issue, after=asked):
            self._tell.replied(number=number, body=reply.body, seconds=seconds)
        if advisory.body != before:
            self._tell.edited(number=number, before=before, body=advisory.body, seconds=seconds)
        if issue.state == "closed" and issue.duplicate_of is not None:
            self._tell.issue_closed(number=number, original=issue.duplicate_of.number, seconds=seconds)

    def _answered(self, command: SceneCommand, asked: Comment, advisory: Comment, before: str) -> bool:
        # The command's comment gets the bot's 👍 (C4).
        if not any(reaction.content == "+1" for reaction in asked.reactions):
            return False
        if command.expect is Expect.CLOSED:
            return asked.issue.state == "closed" and asked.issue.state_reason == "duplicate"
        if command.expect is Expect.REPLY:
            return any(command.contains in reply.body for reply in self._bot_comments(asked.issue, after=asked))
        still_listed = command.lacks and f"/issues/{command.lacks})" in advisory.body
        return advisory.body != before and command.contains in advisory.body and not still_listed

    def _bot_comments(self, issue: Issue, after: Comment | None = None) -> list[Comment]:
        """The bot's comments on an issue; with `after`, only those below that comment."""
        comments = self._sim.comments(self._repository, issue.number)
        below = comments[comments.index(after) :] if after else comments
        return [one for one in below if one.author is self._sim.app.bot]

    def _check_no_pings(self) -> str:
        """Check that GitHub finds no mention and no back-link in the bot's comments."""
        with self._sim.lock:
            issues = self._sim.issues_of(self._sim.repository(self._repository))
            written = [comment for issue in issues for comment in self._bot_comments(issue)]
        for comment in written:
            found = references.parse(comment.body, self._sim.urls.html)
            if found.mentions or found.issues or found.duplicate_of:
                raise ShowFailed(f"the comment on #{comment.issue.number} disturbs others: {found}")
        return f"in {len(written)} comments the bot mentioned nobody and left no back-link on any issue"

    def _wait_for_job(self, what: str, kind: str, key: str, value: int) -> None:
        """Wait until the job of the latest delivery with this `value` at `payload[kind][key]` is done."""
        log = reversed(self._sim.webhooks.log)
        guid = next(one.guid for one in log if one.payload.get(kind, {}).get(key) == value)
        wait_for(self._bot, f"end of the {what}", lambda: self._bot.done(guid), self._patience)


def perform(tell: Terminal | Lines, repository: str, issues: Path | None, *, page: int | None = None) -> None:
    """Run the demo and report to `tell`. With a port `page` (0: a free port), serve the demo's page until interrupted.

    Raises ShowFailed or Unavailable naming what did not happen, and UserError for wrong options.
    """
    began = time.monotonic()
    if page and (problem := local.refusal("127.0.0.1", page)) is not None:
        # Check first: Werkzeug would end the process with its own message.
        raise UserError(f"--port: cannot listen on 127.0.0.1:{page}: {local.in_words(problem)}")
    try:
        rows, scenes = split(issues) if issues else (None, script())
    except (ValueError, OSError) as wrong:
        raise UserError(f"--issues: {issues} is not a file of issues: {wrong}") from wrong
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doppel-demo-", ignore_cleanup_errors=True)))
        tell.progress(what="starting the simulated GitHub, web and worker")
        server = stack.enter_context(start_simulator())
        bot = stack.enter_context(running_bot(server, home))
        tell.progress(what=f"writing the issues of {repository} into it")
        count = seed(server.sim, repository, rows)
        wait_for(bot, "web process", bot.takes_deliveries)
        server.sim.app.hook.url = bot.receiver
        server.sim.install(repository)
        # The installation is the first delivery: once its job is done, the worker is running.
        installed = server.sim.webhooks.log[-1].guid
        wait_for(bot, "worker", lambda: bot.done(installed))
        if count > MAX_ISSUES_TO_WAIT_FOR:
            tell.progress(what=f"{count:,} issues are being read; until all are, the bot uses GitHub's search")
        else:
            tell.progress(what=f"reading {count:,} issues into the bot's index")
            repo_id = server.sim.repository(repository).id
            wait_for(bot, "index", lambda: Backfills(bot.store).complete(repo_id))
        tell.ready(
            repository=repository,
            about=f"from {issues.name}" if issues else ABOUT,
            issues=count,
            simulator=server.url,
            receiver=bot.receiver,
            seconds=time.monotonic() - began,
        )
        if page is not None:
            # No log line for each request: the terminal belongs to the show.
            logging.getLogger("werkzeug").setLevel(logging.ERROR)
            app = create_page(server.sim, repository, list(ROLES))
            pages = stack.enter_context(make_server("127.0.0.1", page, app, threaded=True))
            threading.Thread(target=pages.serve_forever, name="demo-page", daemon=True).start()
            stack.callback(pages.shutdown)
            address = f"http://127.0.0.1:{pages.server_port}/"
            tell.serving(url=address)
        Show(server.sim, repository, bot, tell).play(scenes)
        if page is not None:
            tell.serving(url=address)
            while True:
                bot.check()
                time.sleep(1)
