"""The tables of what GitHub could not deliver. They hold no word of an issue and belong to no repository."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.tables.schema import TIME, column, metadata

# A delivery that nobody has taken yet, under its GUID: its last attempt, and how often we asked for another.
missed = sa.Table(
    "missed",
    metadata,
    column("guid", sa.Text(), primary_key=True),
    column("delivery_id", sa.BigInteger()),
    column("failed_at", TIME),
    column("status_code", sa.BigInteger()),
    column("asked", sa.BigInteger()),
    column("asked_at", TIME),
)

# How far lists that grow on GitHub's side have been read, by their name.
marks = sa.Table(
    "marks",
    metadata,
    column("name", sa.Text(), primary_key=True),
    column("at", TIME),
)
