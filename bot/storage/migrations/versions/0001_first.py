"""The first schema. A new database skips all migrations: `bot/storage/schema.py` creates the newest tables."""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing to do: this schema is the first."""
