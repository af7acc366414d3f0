"""The first schema. A new database gets the newest tables at once from `bot/storage/schema.py`, without these steps."""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing to do: this schema is the first."""
