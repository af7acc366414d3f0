"""The move itself: copy in pieces, each with a note of how far it is, then compare every row, then forget the notes.

A piece and its note are one transaction of the target's, so that a move that was killed goes on where it was. The
source is locked against writing and left as it is.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from bot.counted import counted
from bot.errors import UserError
from bot.moving.places import Place
from bot.moving.rows import batches, everything, key_of, storable
from bot.store.database.engine import write
from bot.store.database.half_moved import NOTES

#: Told the name of a table and how many of its rows have just been copied or compared.
Tell = Callable[[str, int], None]

_own = sa.MetaData()
_notes = sa.Table(
    NOTES,
    _own,
    sa.Column("name", sa.Text(), primary_key=True),
    sa.Column("source", sa.Text(), nullable=False),
    # The key of the last row that was copied, as JSON; empty where the table is done.
    sa.Column("after", sa.Text(), nullable=False),
)
_DONE = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a move would do: the rows of each table, and whether it goes on with one that was broken off."""

    rows: dict[str, int]
    resumed: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did: the rows of each table, all of them compared with those of the source."""

    rows: dict[str, int]
    resumed: bool


def plan(source: Place, target: Place) -> Plan:
    """Look at both and change nothing. Raises UserError where `move` would refuse."""
    resumed = _check(source, target)
    with source.kept_as_it_is() as connections:
        rows = {table.name: _count(connections[source.engine(table)], table) for table in source.tables()}
    return Plan(rows, resumed)


def move(source: Place, target: Place, tell: Tell) -> Moved:
    """Copy everything, and compare it at the end.

    Raises UserError where the target has other data, the source is in use, or what was copied is not what the source
    has (it was changed while the move was broken off).
    """
    resumed = _check(source, target)
    with source.kept_as_it_is() as connections:
        target.prepare()
        # The notes of the two go one after the other, when everything has been compared.
        ended = {engine for engine in target.engines() if resumed and not sa.inspect(engine).has_table(_notes.name)}
        for engine in {target.store, target.queue} - ended:
            _own.create_all(engine)
        there = {table.name: table for table in target.tables()}
        tables = source.tables()
        for table in tables:
            copy = there[table.name]
            if target.engine(copy) in ended:
                continue
            _copy(connections[source.engine(table)], table, target.engine(copy), copy, source.fingerprint, tell)
        rows = {}
        for table in tables:
            copy = there[table.name]
            with target.engine(copy).connect() as reading:
                rows[table.name] = _compare(connections[source.engine(table)], table, reading, copy, tell)
    for engine in {target.store, target.queue}:
        _own.drop_all(engine)
    return Moved(rows, resumed)


def _check(source: Place, target: Place) -> bool:
    """Whether a move from this source was begun here. Raises UserError where something else is in the target."""
    if source.fingerprint == target.fingerprint:
        raise UserError("both are the same database")
    source.refuse_nothing()
    notes = [note for engine in target.engines() for note in _sources(engine)]
    if notes:
        if set(notes) != {source.fingerprint}:
            raise UserError(
                f"{target.name} holds a part of another database that was being moved there; empty it first"
            )
        return True
    for table in target.tables():
        engine = target.engine(table)
        if engine in target.engines() and sa.inspect(engine).has_table(table.name, schema=table.schema):
            with engine.connect() as connection:
                if count := _count(connection, table):
                    raise UserError(
                        f"{target.name} has data already ({table.name}: {counted(count, 'row')}); move to an empty one"
                    )
    return False


def _sources(engine: sa.Engine) -> list[str]:
    if not sa.inspect(engine).has_table(_notes.name):
        return []
    with engine.connect() as connection:
        return list(connection.execute(sa.select(_notes.c.source).distinct()).scalars())


def _copy(reading: sa.Connection, table: sa.Table, engine: sa.Engine, copy: sa.Table, source: str, tell: Tell) -> None:
    with engine.connect() as connection:
        note = connection.execute(sa.select(_notes.c.after).where(_notes.c.name == copy.name)).scalar()
    if note == _DONE:
        return
    names = {column.name for column in copy.columns}
    has_key = len(table.primary_key.columns) > 0
    if has_key:
        pieces = batches(reading, table, json.loads(note) if note else None)
    else:
        # Without a key it is one piece. Such tables are small: they hold what counts for an hour.
        pieces = iter([list(everything(reading, table))])
    for piece in pieces:
        rows = [{name: value for name, value in storable(row).items() if name in names} for row in piece]
        with write(engine) as connection:
            if rows:
                connection.execute(sa.insert(copy), rows)
            # A table without a key is done with its one piece: to begin it again would double it.
            after = json.dumps(key_of(table, piece[-1])) if rows and has_key else _DONE
            _note(connection, copy.name, source, after)
        tell(table.name, len(rows))
    with write(engine) as connection:
        _number_on(connection, copy)
        _note(connection, copy.name, source, _DONE)


def _note(connection: sa.Connection, name: str, source: str, after: str) -> None:
    changed = connection.execute(sa.update(_notes).where(_notes.c.name == name).values(after=after))
    if not changed.rowcount:
        connection.execute(sa.insert(_notes).values(name=name, source=source, after=after))


def _number_on(connection: sa.Connection, table: sa.Table) -> None:
    """Let PostgreSQL number new rows from where the copied ones end; SQLite does so by itself."""
    column = table.autoincrement_column
    if column is None or connection.dialect.name != "postgresql":
        return
    last = sa.select(sa.func.coalesce(sa.func.max(column), 0) + 1).scalar_subquery()
    connection.execute(sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(table.name, column.name), last, False)))


def _compare(reading: sa.Connection, table: sa.Table, connection: sa.Connection, copy: sa.Table, tell: Tell) -> int:
    names = [column.name for column in table.columns if column.name in copy.columns]
    count = 0
    for ours, theirs in itertools.zip_longest(everything(reading, table), everything(connection, copy)):
        if ours is None or theirs is None or any(ours[name] != theirs[name] for name in names):
            raise UserError(
                f"{table.name}: row {count + 1} is not what the source has. It was changed while the move was broken "
                "off; empty the target and move again."
            )
        count += 1
        if count % 1000 == 0:
            tell(table.name, 1000)
    tell(table.name, count % 1000)
    return count


def _count(connection: sa.Connection, table: sa.Table) -> int:
    count: int = connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
    return count
