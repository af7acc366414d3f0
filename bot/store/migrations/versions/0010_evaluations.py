"""The newest evaluation of each repository, and what people said there of duplicates."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "evaluations",
        sa.Column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("chain", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.Float(53), nullable=False),
        sa.Column("updated_at", sa.Float(53), nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("read_until", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("made_at", sa.Float(53), nullable=True),
    )
    op.create_table(
        "duplicate_marks",
        sa.Column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("closed_as_duplicate", sa.Boolean(), nullable=False),
        sa.Column("statements", sa.Text(), nullable=False),
    )
