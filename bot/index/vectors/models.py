"""Whose vectors a repository has, where workers have different models: while the setting is changed on one after the
other, or where one was left out.

Vectors of two models cannot be compared, so that a repository has those of one. If each worker put its own in the place
of the other's, there would never be any that are whole. So the model that was chosen later prevails for as long as any
worker has it, and the others find by words alone; nothing is embedded anew a second time when one of them is started
again. A model that nobody has any more gives way, also to one of before: that is how a change is taken back.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from bot.index.database import upsert
from bot.index.state import State
from bot.store.database.engine import database_time, write
from bot.store.database.failures import why
from bot.store.tables.index import embedding_models as table

_log = logging.getLogger(__name__)

FRESH = 60.0
"""Seconds for which a worker counts as having the model that it said it has."""

_EVERY = 20.0


@contextmanager
def held(engine: sa.Engine, name: str) -> Iterator[None]:
    """Inside, this process has the model of this name, and says so now and then."""
    say(engine, name)
    ended = threading.Event()

    def keep_saying() -> None:
        while not ended.wait(_EVERY):
            try:
                say(engine, name)
            except (sa.exc.SQLAlchemyError, OSError) as problem:
                _log.warning("others are not told now which model this worker has: %s", why(problem))

    thread = threading.Thread(target=keep_saying, name="model", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def say(engine: sa.Engine, name: str) -> None:
    """A worker has this model. The first one that ever had it thereby enters it as the latest that was chosen.

    The time is the database's: a machine whose clock is ahead would otherwise take what all others say for old.
    """
    with write(engine) as connection:
        now: float = connection.execute(sa.select(database_time(engine))).scalar_one()
        seen = sa.update(table).where(table.c.name == name).values(seen_at=now)
        if not connection.execute(seen).rowcount:
            _enter(connection, name, now)


def in_use(connection: sa.Connection) -> dict[str, float]:
    """The models that workers have, each with when it was chosen, in seconds since 1970."""
    now = database_time(connection.engine)
    # What is dated further ahead was said before a clock was set back, by who may have ended since.
    query = sa.select(table.c.name, table.c.chosen_at).where(table.c.seen_at.between(now - FRESH, now + FRESH))
    return {row.name: row.chosen_at for row in connection.execute(query)}


class Prevailing:
    """Whether this process may write vectors of its own model. One for all repositories of an index."""

    def __init__(self) -> None:
        self._outdone = set[int]()
        self._told = set[str]()

    def outdone(self, repo_id: int) -> bool:
        """Whether it might not, when that was looked at last."""
        return repo_id in self._outdone

    def may_write(self, connection: sa.Connection, repo_id: int, state: State, own: str, *, take: bool = False) -> bool:
        """Whether it may by now; with `take`, in a transaction that writes them and thereby replaces all others."""
        if state.model in ("", own) or _prevails(connection, own, state.model, take):
            self._outdone.discard(repo_id)
            return True
        self._outdone.add(repo_id)
        if state.model not in self._told:
            self._told.add(state.model)
            _log.warning(
                "other workers have the model %s, which was chosen later than %s, the one of this process: it finds by "
                "words alone until all have the same DOPPEL_EMBEDDING_MODEL and DOPPEL_EMBEDDING_URL",
                state.model,
                own,
            )
        return False


def _prevails(connection: sa.Connection, own: str, other: str, take: bool) -> bool:
    if _chosen_at(connection, own) > _chosen_at(connection, other):
        return True
    if other in in_use(connection):
        return False
    if take:
        # So that it is not put back by a worker of before that is started once more.
        _enter(connection, own, connection.execute(sa.select(database_time(connection.engine))).scalar_one())
    return True


def _enter(connection: sa.Connection, name: str, seen_at: float) -> None:
    """The model is the latest that was chosen, also where the clock that the one before was dated by is ahead."""
    last: float = connection.execute(sa.select(sa.func.coalesce(sa.func.max(table.c.chosen_at), 0.0))).scalar_one()
    upsert(connection, table, [(name, max(time.time(), last + 1.0), seen_at)])


def _chosen_at(connection: sa.Connection, name: str) -> float:
    found: float | None = connection.execute(sa.select(table.c.chosen_at).where(table.c.name == name)).scalar()
    return found or 0.0
