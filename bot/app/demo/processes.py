"""Runs the bot as hosts do, with gunicorn and a worker as processes, against the simulator."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from bot.deliveries.database import jobs, queue_engine
from bot.domain.decisions import Decision
from bot.domain.errors import DoppelError, Unavailable
from bot.platform import settings as host
from bot.platform.local import free_port, is_well
from bot.platform.private_files import make_file, replace_file
from bot.platform.processes import GUNICORN, WORKER, Supervisor
from bot.platform.settings import VARIABLES, Settings
from bot.simulator import Server
from bot.storage.decisions import Decisions
from bot.storage.engine import make_engine
from bot.storage.repositories import Backfills, Progress

READY_WITHIN_SECONDS = 180.0
POLL_SECONDS = 0.05
LOG = "processes.log"


class Processes:
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
        """Whether web is ready for deliveries."""
        return is_well(self.receiver.replace("/webhook", "/readyz"))

    def done(self, delivery_id: str) -> bool:
        """Whether the job of a delivery is done."""
        with self._engine.connect() as connection:
            return connection.scalar(sa.select(jobs.c.state).where(jobs.c.id == delivery_id)) == "done"

    def progress(self, repo_id: int) -> Progress | None:
        """How far the index of a repository is; None before it has begun."""
        return Backfills(self._store).get(repo_id)

    def decided(self, repo_id: int, number: int) -> Decision | None:
        """The last decision about an issue; None if there is none."""
        return next(reversed(Decisions(self._store).of_issue(repo_id, number)), None)

    def close(self) -> None:
        """Close the connections, and end the processes."""
        self._engine.dispose()
        self._store.dispose()
        self._supervisor.stop()


@contextmanager
def running(server: Server, home: Path, database_url: str = "") -> Iterator[Processes]:
    """Web and worker for the length of a `with` block, with the data directory `home` and their log in it.

    They get none of this machine's settings.
    """
    environ = environment(server, home, database_url)
    make_file(home / LOG)
    with (home / LOG).open("wb") as log:
        # The demo is for this machine alone.
        web = (*GUNICORN, "--bind", f"127.0.0.1:{environ['PORT']}")
        supervisor = Supervisor({"web": web, "worker": WORKER}, environ, cwd=home, output=log)
        processes = Processes(host.load(environ, home / ".env"), supervisor)
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


def wait_for(processes: Processes, what: str, happened: Callable[[], bool]) -> None:
    """Wait until something has happened; raise Unavailable naming it if that takes too long."""
    end = time.monotonic() + READY_WITHIN_SECONDS
    while not happened():
        processes.check()
        if time.monotonic() > end:
            raise Unavailable(f"{what} was not ready within {READY_WITHIN_SECONDS:.0f} s")
        time.sleep(POLL_SECONDS)


def environment(server: Server, home: Path, database_url: str) -> dict[str, str]:
    """The environment of web and worker: this demo's settings, none of the machine's. It writes the key into `home`."""
    key = home / "key.pem"
    replace_file(key, [server.private_key_pem])
    ours = {variable.name for variable in VARIABLES}
    return {name: value for name, value in os.environ.items() if name not in ours} | {
        "APP_ID": str(server.app_id),
        "PRIVATE_KEY_PATH": str(key),
        "WEBHOOK_SECRET": server.webhook_secret,
        "GITHUB_API_URL": server.url,
        "DATABASE_URL": database_url or f"sqlite:///{home / 'doppel.db'}",
        "DOPPEL_HOME": str(home),
        "PORT": str(free_port()),
        "WEB_CONCURRENCY": "2",
        "LOG_LEVEL": "INFO",
    }
