"""Counting by the way: a count that cannot be written must never fail the request that it counts."""

from __future__ import annotations

import logging
import threading

import sqlalchemy as sa

from bot.settings import Settings
from bot.store.counters import Counters
from bot.store.engine import make_engine
from bot.store.migrate import migrate

log = logging.getLogger(__name__)

_PATIENCE = 1.0


class Tally:
    """The store's counters for the web process. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        """Does not connect before the first count."""
        self._engine = make_engine(
            settings.database_url, patience=_PATIENCE, pool_size=2, connect_timeout=1, synchronous="NORMAL"
        )
        self._prepared = False
        self._lock = threading.Lock()

    def count(self, name: str) -> None:
        """Add one to a counter, if the database has a moment."""
        try:
            self._prepare()
            Counters(self._engine).increment(name)
        except (sa.exc.SQLAlchemyError, OSError) as error:
            log.warning("could not count %r: %s", name, type(error).__name__)

    def all(self) -> dict[str, int] | None:
        """Every counter by its name; None while the database has no moment."""
        try:
            self._prepare()
            return Counters(self._engine).all()
        except (sa.exc.SQLAlchemyError, OSError) as error:
            log.warning("could not read the counts: %s", type(error).__name__)
            return None

    def _prepare(self) -> None:
        with self._lock:
            if not self._prepared:
                migrate(self._engine)
                self._prepared = True
