"""Drops two tables: workers now keep GitHub's list of failed deliveries in memory."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Dropping is safe here: no release has used these tables."""
    # `marks` held the time up to which workers had read GitHub's list.
    for table in ("missed", "marks"):
        op.drop_table(table)
