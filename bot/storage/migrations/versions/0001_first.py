"""The first schema. A new database gets its tables from `bot/storage/schema.py`; each later step changes these."""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing to do: this schema is the first."""
