"""The tables of what GitHub could not deliver. They hold no word of an issue and belong to no repository."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.schema import metadata

# A delivery that nobody has taken yet, under its GUID: its last attempt, and how often we asked for another.
missed = sa.Table(
    "missed",
    metadata,
    sa.Column("guid", sa.Text(), primary_key=True),
    sa.Column("delivery_id", sa.BigInteger(), nullable=False),
    sa.Column("failed_at", sa.Float(53), nullable=False),
    sa.Column("status_code", sa.BigInteger(), nullable=False),
    sa.Column("asked", sa.BigInteger(), nullable=False),
    sa.Column("asked_at", sa.Float(53), nullable=False),
)

# How far lists that grow on GitHub's side have been read, by their name.
marks = sa.Table(
    "marks",
    metadata,
    sa.Column("name", sa.Text(), primary_key=True),
    sa.Column("at", sa.Float(53), nullable=False),
)
