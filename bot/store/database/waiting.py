"""Waiting for another process that brings the schema up to date, for as long as it is at it, and saying so.

That it is at it shows in its lock, which both databases take from a process that has died. Whoever waits holds nothing:
it may be ended at any time, and begins again from the start.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa

log = logging.getLogger(__name__)

#: Seconds between two tries to take PostgreSQL's lock, and after which the log says for the first time, and again, that
#: somebody waits. On SQLite each try takes as long as the engine is patient.
PAUSE, FIRST_TOLD, TOLD_EVERY = 0.1, 5.0, 15.0


def waiting(what: str) -> Callable[[], None]:
    """What to call after each try that came to nothing; `what` is being brought up to date."""
    began = time.monotonic()
    next_told = FIRST_TOLD

    def wait() -> None:
        nonlocal next_told
        waited = time.monotonic() - began
        if waited >= next_told:
            log.warning(
                "another process has locked %s, to bring its schema up to date: waited for it for %.0f s", what, waited
            )
            next_told = waited + TOLD_EVERY
        time.sleep(PAUSE)

    return wait


@contextmanager
def alone(engine: sa.Engine, lock: int, what: str, patience: float | None) -> Iterator[None]:
    """A stretch of time for one process at a time, on PostgreSQL; several connections may be used in it.

    Raises TimeoutError where others take longer than `patience` seconds; None waits for as long as they take.
    """
    if engine.dialect.name != "postgresql":
        yield
        return
    wait, began = waiting(what), time.monotonic()
    # Without a transaction, which the server would end for doing nothing.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(lock))).scalar():
            if patience is not None and time.monotonic() - began > patience:
                raise TimeoutError(f"another process has locked {what}, to bring its schema up to date")
            wait()
        try:
            yield
        finally:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(lock)))
