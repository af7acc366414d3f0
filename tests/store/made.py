"""Made-up rows for any table, whatever columns it has."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa


def rows(table: sa.Table, count: int) -> list[dict[str, Any]]:
    """So many rows, each different in every column that can be."""
    return [{column.name: _value(column, n) for column in table.columns} for n in range(1, count + 1)]


def _value(column: sa.Column[Any], n: int) -> Any:
    kind = column.type
    if isinstance(kind, sa.Boolean):
        return n % 2 == 0
    if isinstance(kind, sa.Integer):
        return n
    if isinstance(kind, sa.Float):
        return n + 1 / 3
    if isinstance(kind, sa.LargeBinary):
        return bytes([0, 255, n % 256])
    if column.nullable and n % 3 == 0:
        return None
    # Capitals and accents, which databases order in different ways.
    return f"{'aBcÄ'[n % 4]}{n} 🦆"
