"""Word counts, which the index makes needless."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """They hold words of issues, which nothing would erase any more."""
    for table in ("words", "counted"):
        op.drop_table(table)
