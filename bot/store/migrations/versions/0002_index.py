"""The tables of the repository index."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def _id(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, autoincrement=False)


def _count(name: str, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def _text(name: str, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _bytes(name: str) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=False)


def _time(name: str, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Float(53), nullable=nullable)


def _integer(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _create(name: str, key: tuple[str, ...], *columns: Any, narrow: bool = False) -> None:
    op.create_table(
        name, *(_id(part) for part in key), *columns, sa.PrimaryKeyConstraint(*key), sqlite_with_rowid=not narrow
    )


def upgrade() -> None:
    _create(
        "index_states",
        ("repo_id",),
        _count("sequence"),
        _count("issues"),
        _count("next_term"),
        _text("lengths"),
        _text("model"),
        _count("vectors"),
        _bytes("vector_sum"),
        _bytes("centre"),
    )
    issue = ("repo_id", "number")
    _create(
        "indexed_issues",
        issue,
        _count("id"),
        _text("title"),
        _text("state"),
        _text("state_reason", nullable=True),
        _text("author"),
        sa.Column("bot", sa.Boolean(), nullable=False),
        _text("labels"),
        _time("created_at"),
        _time("updated_at"),
        _time("closed_at", nullable=True),
        _integer("thumbs_up"),
        _integer("thumbs_down"),
        _integer("comments"),
        _count("duplicate_of", nullable=True),
        narrow=True,
    )
    _create("indexed_bodies", issue, _text("body"))
    _create("indexed_terms", issue, _count("changed"), _bytes("terms"))
    op.create_index("ix_indexed_terms_changed", "indexed_terms", ["repo_id", "changed"])
    _create("indexed_vectors", issue, _count("changed"), _bytes("vectors"))
    op.create_index("ix_indexed_vectors_changed", "indexed_vectors", ["repo_id", "changed"])
    _create("index_vocabulary", ("repo_id", "hash"), _count("term"), narrow=True)
    op.create_index("ix_index_vocabulary_term", "index_vocabulary", ["repo_id", "term"])
    _create("index_lists", ("repo_id", "list"), _count("issues"), _bytes("tail"), narrow=True)
    _create("index_chunks", ("repo_id", "list", "chunk"), _bytes("postings"))
    _create(
        "backfills",
        ("repo_id",),
        _text("cursor"),
        _text("etag"),
        _count("seen"),
        _count("expected", nullable=True),
        sa.Column("done", sa.Boolean(), nullable=False),
        _text("problem"),
        _time("updated_at"),
    )
