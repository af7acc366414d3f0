"""What all parts of the store share."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite


class Part:
    """A group of related tables. Safe to use from several threads: each call takes a connection of its own."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def _insert(self, table: sa.Table) -> Any:
        """An INSERT that knows ON CONFLICT, which both databases spell alike and SQLAlchemy keeps apart."""
        return sqlite.insert(table) if self._engine.dialect.name == "sqlite" else postgresql.insert(table)
