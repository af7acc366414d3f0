"""What something costs: in queries, and where nothing can be counted in the processor's time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import sqlalchemy as sa

from bot.search.index import database
from bot.search.index.database import read_on_sqlite


@contextmanager
def costs_at_most(seconds: float, what: str = "it") -> Iterator[None]:
    """Of the processor's time in this thread, which stands still while others have the processor.

    Name twenty times what it takes: what is quadratic in a text of the largest size takes minutes.
    """
    began = time.thread_time()
    yield
    spent = time.thread_time() - began
    assert spent <= seconds, f"{what} cost {spent:.1f} s"


@contextmanager
def queries() -> Iterator[list[str]]:
    """The statements that databases are given inside."""
    asked: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    def read(connection: sa.Connection, statement: str, values: tuple[Any, ...]) -> list[Any]:
        asked.append(statement)
        return read_on_sqlite(connection, statement, values)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        with patch.object(database, "read_on_sqlite", read):
            yield asked
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
