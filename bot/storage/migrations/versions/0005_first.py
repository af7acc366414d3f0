"""The first schema. A new database gets the newest tables at once from `bot/storage/schema.py`, without these steps."""

from __future__ import annotations

# Builds before 0.1.0 had four earlier steps. A database on which their last step ran has this schema.
revision = "0005"
down_revision = None


def upgrade() -> None:
    """Nothing to do: this schema is the first."""
