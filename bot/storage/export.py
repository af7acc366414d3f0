"""Exports everything that the store holds of one repository, for its owner (C6a)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from bot.storage.tables.schema import tables_of_repositories

Row = dict[str, Any]

# Rows to fetch at once; a repository's index can have a hundred thousand.
_BATCH = 500


def export(engine: sa.Engine, repo_id: int) -> Iterator[tuple[str, Iterator[Row]]]:
    """Each table with its rows, ready for JSON, all as of one moment. Take the rows before the next table."""
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            # Python's driver opens no transaction for reading.
            connection.exec_driver_sql("BEGIN")
        else:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        for table in tables_of_repositories():
            query = sa.select(table).where(table.c.repo_id == repo_id).order_by(*table.primary_key.columns)
            found = connection.execution_options(yield_per=_BATCH).execute(query)
            yield table.name, (_plain(row) for row in found.mappings())


def _plain(row: sa.RowMapping) -> Row:
    return {
        name: base64.b64encode(value).decode() if isinstance(value, bytes | memoryview) else value
        for name, value in row.items()
    }
