"""The bot as its hosts run it: gunicorn and a worker as processes of their own, pointed at the simulator."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from bot import settings as host
from bot.decisions.model import Decision
from bot.errors import DoppelError, Unavailable
from bot.jobs.database import jobs, queue_engine
from bot.machine.local import free_port, is_well
from bot.machine.private_files import make_file, replace_file
from bot.machine.supervisor import GUNICORN, WORKER, Supervisor
from bot.settings import VARIABLES, Settings
from bot.simulator import Server
from bot.store.database.engine import make_engine
from bot.store.parts.decisions import Decisions
from bot.store.parts.repositories import Backfills, Progress

READY_WITHIN_SECONDS = 180.0
POLL_SECONDS = 0.05
LOG = "processes.log"


class Processes:
    """Web and worker, running. `settings` are theirs, `receiver` is the address that deliveries go to."""

    def __init__(self, settings: Settings, supervisor: Supervisor) -> None:
        self.settings = settings
        self.receiver = f"http://127.0.0.1:{settings.port}/webhook"
        self.pid = supervisor.pid
        self._supervisor = supervisor
        self._engine = queue_engine(settings, pool_size=1)
        self._store = make_engine(settings.database_url, pool_size=1)

    def check(self) -> None:
        """Start again what has died; raises Unavailable for what keeps dying."""
        self._supervisor.check(time.monotonic())

    def takes_deliveries(self) -> bool:
        """Whether web says that it does."""
        return is_well(self.receiver.replace("/webhook", "/readyz"))

    def done(self, delivery_id: str) -> bool:
        """Whether the work of a delivery is over."""
        with self._engine.connect() as connection:
            return connection.scalar(sa.select(jobs.c.state).where(jobs.c.id == delivery_id)) == "done"

    def progress(self, repo_id: int) -> Progress | None:
        """How far the index of a repository is; None before it is begun."""
        return Backfills(self._store).get(repo_id)

    def decided(self, repo_id: int, number: int) -> Decision | None:
        """What the last look at an issue came to; None if nobody has looked."""
        return next(reversed(Decisions(self._store).of_issue(repo_id, number)), None)

    def close(self) -> None:
        """Close the connections, and end the processes."""
        self._engine.dispose()
        self._store.dispose()
        self._supervisor.stop()


@contextmanager
def running(server: Server, home: Path, database_url: str = "") -> Iterator[Processes]:
    """Web and worker for the length of a `with` block, on the data directory `home`.

    What they print goes to a log file there. They get no setting of the machine that this runs on.
    """
    environ = environment(server, home, database_url)
    make_file(home / LOG)
    with (home / LOG).open("wb") as log:
        # Nobody else on the network has business with a demo.
        web = (*GUNICORN, "--bind", f"127.0.0.1:{environ['PORT']}")
        supervisor = Supervisor({"web": web, "worker": WORKER}, environ, cwd=home, output=log)
        processes = Processes(host.load(environ, home / ".env"), supervisor)
        try:
            supervisor.start()
            yield processes
        except DoppelError as problem:
            # The log goes with the directory, so what it says of the failure must leave now.
            last = (home / LOG).read_text("utf-8", "replace").splitlines()[-20:]
            problem.add_note("\n".join(("What web and worker wrote last:", *last)))
            raise
        finally:
            processes.close()


def wait_for(processes: Processes, what: str, happened: Callable[[], bool]) -> None:
    """Return once something of the start-up has happened; raises Unavailable naming it when that takes too long."""
    end = time.monotonic() + READY_WITHIN_SECONDS
    while not happened():
        processes.check()
        if time.monotonic() > end:
            raise Unavailable(f"{what} was not ready within {READY_WITHIN_SECONDS:.0f} s")
        time.sleep(POLL_SECONDS)


def environment(server: Server, home: Path, database_url: str) -> dict[str, str]:
    """What web and worker see: the settings of this demo, and none of the machine's; writes the key into `home`."""
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
