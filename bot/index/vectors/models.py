"""Whose vectors a repository has, where workers have different models: while the setting is changed on one after the
other, or where one was left out.

Vectors of two models cannot be compared, so that a repository has those of one. If each worker put its own in the place
of the other's, there would never be any that are whole. So the model that was chosen later prevails for as long as any
worker has it, and the others find by words alone; nothing is embedded anew a second time when one of them is started
again. A model that nobody has any more gives way, also to one of before: that is how a change is taken back.
"""

from __future__ import annotations

import logging
import time

import sqlalchemy as sa

from bot.index.database import upsert
from bot.index.state import State
from bot.store.database.engine import write
from bot.store.parts.gauges import fresh
from bot.store.tables.index import embedding_models as table
from bot.store.tables.schema import gauges

_log = logging.getLogger(__name__)

_GAUGE = "embedding "


def gauge(name: str) -> str:
    """What a worker says of itself every few seconds (`bot.store.parts.gauges`), if it has the model of this name."""
    return f"{_GAUGE}{name}"


def choose(engine: sa.Engine, name: str) -> None:
    """A worker with this model starts, which may be the first one: then the model is the latest that was chosen.

    It must say so of itself by now, or others would take the model for one that nobody has.
    """
    with write(engine) as connection:
        if _chosen_at(connection, name) is None:
            _enter(connection, name)


def in_use(connection: sa.Connection) -> dict[str, float]:
    """The models that workers have, each with when it was chosen, in seconds since 1970."""
    query = sa.select(gauges.c.name).where(gauges.c.name.startswith(_GAUGE), fresh(connection)).distinct()
    names = [name.removeprefix(_GAUGE) for name in connection.execute(query).scalars()]
    return {name: _chosen_at(connection, name) or 0.0 for name in names}


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
    mine, theirs = _chosen_at(connection, own) or 0.0, _chosen_at(connection, other) or 0.0
    if mine > theirs:
        return True
    if other in in_use(connection):
        return False
    if take:
        # So that it is not put back by a worker of before that is started once more.
        _enter(connection, own)
    return True


def _enter(connection: sa.Connection, name: str) -> None:
    """The model is the latest that was chosen, also where the clock that the one before was dated by is ahead."""
    last: float = connection.execute(sa.select(sa.func.coalesce(sa.func.max(table.c.chosen_at), 0.0))).scalar_one()
    upsert(connection, table, [(name, max(time.time(), last + 1.0))])


def _chosen_at(connection: sa.Connection, name: str) -> float | None:
    found: float | None = connection.execute(sa.select(table.c.chosen_at).where(table.c.name == name)).scalar()
    return found
