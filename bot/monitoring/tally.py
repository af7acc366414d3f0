"""Bringing what a process has counted into the database, where all processes' numbers add up (`bot.telemetry.metrics`).

Counting is an addition in memory. A thread adds what is new to the shared counters every few seconds, in one
transaction; a process that is killed takes the counts of these seconds with it. Nothing fails for the sake of a count.
Why not one port or one directory for each process: web and worker run on several hosts, behind one address, and what is
asked of any of them must be true of all; the database is what they have in common.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import threading
from collections.abc import Mapping

import sqlalchemy as sa
from prometheus_client.metrics_core import Metric

from bot.settings import Settings
from bot.store.database.engine import make_engine
from bot.store.database.failures import why
from bot.store.database.migrate import migrate
from bot.store.parts.counters import Counters
from bot.store.parts.gauges import Gauges
from bot.telemetry.metrics import LEFT, REGISTRY

log = logging.getLogger(__name__)

#: Seconds between two writes.
EVERY = 5.0
# Sums of seconds are stored in whole microseconds, so that adding them up loses nothing.
_MICRO = 1_000_000
_PATIENCE = 1.0


class Tally:
    """What this process counts from now on, and the way to the database. One in a process; safe to share."""

    def __init__(self, settings: Settings, says: Mapping[str, float] | None = None) -> None:
        """Does not connect before the first count. `says` are further gauges, which hold as long as this process."""
        self._says = says or {}
        self.engine = make_engine(
            settings.database_url, patience=_PATIENCE, pool_size=2, connect_timeout=1, synchronous="NORMAL"
        )
        self._process = f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"
        self._told = totals()
        self._prepared = False
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Write every few seconds, until `stop`. To be called after any fork, which threads do not survive."""
        self._thread = threading.Thread(target=self._keep_on, name="tally", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write what is left, and close the connections."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self.flush()
        self.engine.dispose()

    def flush(self) -> bool:
        """Add what is new to the database; False while it has no moment, and then it is added the next time."""
        with self._lock:
            now = totals()
            # What was there before began at 0.
            new = {name: value - self._told.get(name, 0) for name, value in now.items()}
            left = {f"github_left {resource}": float(value) for resource, value in LEFT.lowest().items()}
            present = {**left, **self._says}
            try:
                if not self._prepared:
                    migrate(self.engine)
                    self._prepared = True
                Counters(self.engine).add({name: amount for name, amount in new.items() if amount})
                self._told = now
                Gauges(self.engine).say(self._process, present)
            except (sa.exc.SQLAlchemyError, OSError) as error:
                log.warning("the counts cannot be written now, and are added the next time: %s", why(error))
                return False
            return True

    def _keep_on(self) -> None:
        while not self._stopping.wait(EVERY):
            self.flush()


def totals() -> dict[str, int]:
    """All that this process has counted since its start, by the names under which it is stored."""
    return {
        key(sample.name, sample.labels): round(sample.value * _MICRO)
        if sample.name.endswith("_sum")
        else int(sample.value)
        for family in families()
        for sample in family.samples
    }


def families() -> list[Metric]:
    """This process's metrics, without the times at which it began to count them, which say nothing of the others."""
    found = list(REGISTRY.collect())
    for family in found:
        family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
    return found


def key(name: str, labels: Mapping[str, str]) -> str:
    """The name under which a sample is stored."""
    return f"{name} {json.dumps(dict(labels), sort_keys=True)}"


def read_key(stored: str) -> tuple[str, dict[str, str]] | None:
    """The inverse of `key`; None for what another version may have stored."""
    name, _, labels = stored.partition(" ")
    try:
        read = json.loads(labels)
    except ValueError:
        return None
    return (name, read) if isinstance(read, dict) else None


def in_seconds(name: str, stored: int) -> float:
    """The value of a stored sample."""
    return stored / _MICRO if name.endswith("_sum") else float(stored)
