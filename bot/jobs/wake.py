"""Wakes a worker when the queue has changed, so that it need not poll often.

PostgreSQL sends a NOTIFY. On SQLite `PRAGMA data_version` says whether another connection has written, which costs a
few microseconds (https://www.sqlite.org/pragma.html#pragma_data_version).
"""

from __future__ import annotations

import logging
import threading

import sqlalchemy as sa

from bot.jobs.queue import CHANNEL
from bot.store.database.failures import why
from bot.telemetry.logs import OFTEN

log = logging.getLogger(__name__)

# Seconds between two looks at a file: short after a change, and growing while nothing happens.
_SHORTEST, _LONGEST, _GROWTH = 0.01, 0.1, 1.05
# Seconds before the next try while the database is away, and between two looks at `ended`.
_AGAIN_AFTER = 1.0


def listen(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    """Set `wake` at each change until `ended`. While the database is away it wakes nobody; workers also poll."""
    watch = _watch_file if engine.dialect.name == "sqlite" else _listen
    while not ended.is_set():
        try:
            watch(engine, wake, ended)
        # SQLAlchemy, the driver and the system raise different errors here.
        except Exception as error:
            log.warning("the queue cannot tell what is new: %s", why(error), extra=OFTEN)
            ended.wait(_AGAIN_AFTER)


def _watch_file(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    with engine.connect() as connection:
        version, pause = -1, _SHORTEST
        while not ended.wait(pause):
            found = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
            connection.rollback()
            pause = _SHORTEST if found != version else min(_LONGEST, pause * _GROWTH)
            if found != version:
                version = found
                wake.set()


def _listen(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    # psycopg chooses how it waits when it is imported. In the web process, gevent must have patched that before.
    import psycopg

    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        try:
            while not ended.is_set():
                for _ in driver.notifies(timeout=_AGAIN_AFTER, stop_after=1):
                    wake.set()
        finally:
            # In the pool it would go on listening.
            connection.invalidate()
