"""Which worker processes live, and taking over the work of those that do not.

A worker writes its heartbeat into the queue's database every few seconds. Work that is marked as running by a worker
without a fresh heartbeat goes back into the queue. On the same machine a dead process is noticed at once, which
matters after a crash: the next start must not wait until the heartbeat has gone stale.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from bot.jobs.queue.database import executors, has_status, workflow_table
from bot.store.database.engine import database_time, write

BEAT_EVERY = 5.0
DEAD_AFTER = 30.0


@dataclass(frozen=True, slots=True)
class Executor:
    """A worker process as the others see it. `host` tells apart machines, and containers on one machine."""

    id: str
    host: str
    pid: int


def this_process() -> Executor:
    """A new identity for this process; no two starts share one."""
    host, pid = _host(), os.getpid()
    return Executor(f"{host}:{pid}:{secrets.token_hex(4)}", host, pid)


def beat(engine: sa.Engine, executor: Executor) -> None:
    """Say that this worker lives. The time is the database's, so that machines need not agree on theirs."""
    values = {"host": executor.host, "pid": executor.pid, "beat_at": database_time(engine)}
    with write(engine) as connection:
        known = connection.execute(sa.update(executors).where(executors.c.executor_id == executor.id).values(**values))
        if not known.rowcount:
            connection.execute(sa.insert(executors).values(executor_id=executor.id, **values))


def leave(engine: sa.Engine, executor: Executor) -> None:
    """Say that this worker is gone; what it left undone is free at once."""
    with write(engine) as connection:
        connection.execute(sa.delete(executors).where(executors.c.executor_id == executor.id))


class Watch:
    """Whose heartbeat has stopped, as one process has seen it.

    Not by the age of the last beat: when a clock is set forward, every beat is old, and the first worker to look would
    take over from all the others while they work. `clock` counts seconds and never jumps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[float, float]] = {}

    def forget(self) -> None:
        """Begin anew, because this process or the database was away and the others could not be seen beating."""
        self._seen.clear()

    def stopped(self, beats: Mapping[str, float]) -> set[str]:
        """Take note of the last beats, and tell whose has not changed for DEAD_AFTER seconds."""
        now, before = self._clock(), self._seen
        self._seen = {
            name: before[name] if name in before and before[name][0] == beat else (beat, now)
            for name, beat in beats.items()
        }
        return {name for name, (_, since) in self._seen.items() if now - since > DEAD_AFTER}


def find_dead(engine: sa.Engine, executor: Executor, watch: Watch) -> list[str]:
    """The executor ids that still hold work although no living worker bears them; forgets those that are dead."""
    workflows = workflow_table(engine)
    holding = sa.select(workflows.c.executor_id).where(has_status("PENDING")).distinct()
    with engine.connect() as connection:
        holders = set(connection.execute(holding).scalars())
        rows = connection.execute(sa.select(executors)).all()
    dead = watch.stopped({row.executor_id: row.beat_at for row in rows})
    dead |= {row.executor_id for row in rows if _is_gone(row.host, row.pid, executor)}
    dead.discard(executor.id)
    if dead - holders:
        with write(engine) as connection:
            connection.execute(sa.delete(executors).where(executors.c.executor_id.in_(dead - holders)))
    living = {row.executor_id for row in rows} - dead | {executor.id}
    return sorted(holders - living - {None})


def ages(engine: sa.Engine, connection: sa.Connection) -> list[float]:
    """How many seconds ago each worker that has not left wrote its last heartbeat.

    What is dated ahead was written before the clock was set back, by who may have ended since, and counts as that old.
    """
    return list(connection.execute(sa.select(sa.func.abs(database_time(engine) - executors.c.beat_at))).scalars())


def _is_gone(host: str, pid: int, executor: Executor) -> bool:
    """Whether that process has ended, as far as this one can know."""
    if host != executor.host:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """A killed process stays in the table until its parent has asked for it."""
    try:
        # The state follows the command's name, which is in parentheses and may hold anything.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _host(proc: Path = Path("/proc")) -> str:
    """This machine, and on Linux this container: process ids mean nothing outside of their namespace.

    Names of machines are often the same (`localhost`, copies of one image), and so is the namespace of every machine
    that has no containers. What Linux draws by lot at each start tells them apart.
    """
    try:
        namespace = str((proc / "self/ns/pid").readlink()).strip("pid:[]")
        started = (proc / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        namespace = started = ""
    return f"{socket.gethostname()}/{started}/{namespace}"
