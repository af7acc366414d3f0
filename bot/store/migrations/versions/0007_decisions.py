"""Decisions with their evidence, what people say to them, and what follows from that."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, nullable=False),
        sa.Column("repo_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("bar", sa.Float(53), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
    )
    op.create_index("ix_decisions_at", "decisions", ["repo_id", "at"])
    op.create_index("ix_decisions_number", "decisions", ["repo_id", "number"])
    op.create_table(
        "signals",
        sa.Column("repo_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("other", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("same", sa.Boolean(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("repo_id", "number", "kind", "login", "other"),
    )
    op.create_table(
        "watched",
        sa.Column("repo_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("comment_id", sa.BigInteger(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("fold", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("repo_id", "number"),
    )
    op.create_table(
        "calibrations",
        sa.Column("repo_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("bar", sa.Float(53), nullable=True),
        sa.Column("since", sa.Float(53), nullable=False),
        sa.Column("changed_at", sa.Float(53), nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("repo_id"),
    )
    op.create_table(
        "digest_issues",
        sa.Column("repo_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=True),
        sa.Column("updated_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("repo_id"),
    )
