"""Waking a worker when something has been put into the queue, so that it need not look often.

PostgreSQL tells by NOTIFY. On SQLite `PRAGMA data_version` says whether another connection has written, which costs a
few microseconds (https://www.sqlite.org/pragma.html#pragma_data_version).
"""

from __future__ import annotations

import logging
import threading

import sqlalchemy as sa

from bot.jobs.statements import CHANNEL
from bot.store.database.failures import why
from bot.telemetry.logs import OFTEN

log = logging.getLogger(__name__)

# Seconds between two looks at a file: short after a change, and growing while nothing happens.
_SHORTEST, _LONGEST, _GROWTH = 0.01, 0.1, 1.05
# Seconds after which a database that is away is asked again, and between two looks at whether this is to end.
_AGAIN_AFTER = 1.0


def listen(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    """Set `wake` at each change until `ended`. While the database is away nobody is woken; a worker looks by itself."""
    watch = _watch_file if engine.dialect.name == "sqlite" else _listen
    while not ended.is_set():
        try:
            watch(engine, wake, ended)
        # Whatever the database raises, its driver or the system.
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
    # Here alone: it chooses how it waits when it is imported, which in the web process gevent has to come before.
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
            # It would go on listening for whoever gets it from the pool.
            connection.invalidate()
