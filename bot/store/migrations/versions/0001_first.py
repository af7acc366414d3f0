"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _id(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, autoincrement=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _time(name: str, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Float(53), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "repositories",
        _id("repo_id"),
        _text("owner"),
        _text("name"),
        _text("lookup"),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("installation", sa.BigInteger(), nullable=True),
        sa.Column("suspended", sa.Boolean(), nullable=False),
        _time("updated_at"),
        sa.PrimaryKeyConstraint("repo_id"),
    )
    op.create_index("ix_repositories_lookup", "repositories", ["lookup"])
    op.create_index("ix_repositories_installation", "repositories", ["installation"])
    op.create_table(
        "comments",
        _id("repo_id"),
        _id("number"),
        _id("command_id"),
        _text("state"),
        sa.Column("comment_id", sa.BigInteger(), nullable=True),
        _text("text_hash"),
        _text("body_hash"),
        _text("shown"),
        _time("updated_at"),
        sa.PrimaryKeyConstraint("repo_id", "number", "command_id"),
    )
    op.create_table(
        "verdicts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        _id("repo_id"),
        _id("number"),
        _id("other"),
        _text("kind"),
        _text("actor"),
        _time("at"),
        _time("undone_at", nullable=True),
        sa.Column("undone_by", sa.BigInteger(), nullable=True),
        _id("command_id"),
        _text("details"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("repo_id", "command_id", "kind", "number", "other", name="uq_verdicts_command"),
    )
    op.create_index("ix_verdicts_number", "verdicts", ["repo_id", "number"])
    op.create_index("ix_verdicts_other", "verdicts", ["repo_id", "other"])
    op.create_table(
        "muted",
        _id("repo_id"),
        _id("number"),
        _text("actor"),
        _time("at"),
        sa.PrimaryKeyConstraint("repo_id", "number"),
    )
    op.create_table(
        "usage",
        _id("repo_id"),
        _text("login"),
        _text("use"),
        _time("at"),
        sa.PrimaryKeyConstraint("repo_id", "login", "use"),
    )
    op.create_table(
        "counters", _text("name"), sa.Column("value", sa.BigInteger(), nullable=False), sa.PrimaryKeyConstraint("name")
    )
    op.create_table(
        "words",
        _id("repo_id"),
        _text("word"),
        sa.Column("issues", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("repo_id", "word"),
    )
    op.create_table("counted", _id("repo_id"), _id("number"), sa.PrimaryKeyConstraint("repo_id", "number"))
    op.create_table(
        "texts",
        _id("repo_id"),
        _text("name"),
        sa.Column("text", sa.Text(), nullable=True),
        _time("fetched_at"),
        sa.PrimaryKeyConstraint("repo_id", "name"),
    )
