"""The tables of the repository index (`bot/index`), in the store's schema so that migrating and `forget` know them.

What is read together lies together: SQLite keeps the tables of narrow rows sorted by their primary key instead of by a
row id of its own. Issues are taken out by `Index.remove`, which also takes back what was counted.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from bot.store.schema import metadata

#: Marks the tables whose rows of one issue only the index itself may delete.
INDEX = {"index": True}

_TIME = sa.Float(53)


def lock_index(connection: sa.Connection, repo_id: int) -> None:
    """Let nobody else change a repository's index until the transaction ends."""
    if connection.dialect.name == "postgresql":
        # SQLite's write transactions exclude each other anyway. A row that is not there yet cannot be locked.
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(f"index/{repo_id}", 0))))


def _table(name: str, *columns: Any, narrow: bool = False) -> sa.Table:
    return sa.Table(name, metadata, *columns, info=INDEX, sqlite_with_rowid=not narrow)


def _key(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False)


def _column(name: str, kind: Any, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=nullable)


# One row a repository. `sequence` counts the changes, so that a process sees that what it remembers is outdated;
# `lengths` are the summed lengths of each field as JSON; `centre` is the mean vector that cosines are taken around.
index_states = _table(
    "index_states",
    _key("repo_id"),
    _column("sequence", sa.BigInteger()),
    _column("issues", sa.BigInteger()),
    _column("next_term", sa.BigInteger()),
    _column("lengths", sa.Text()),
    _column("model", sa.Text()),
    _column("vectors", sa.BigInteger()),
    _column("vector_sum", sa.LargeBinary()),
    _column("centre", sa.LargeBinary()),
)

# An issue as GitHub shows it; the body, cut, is elsewhere because it is seldom asked for.
indexed_issues = _table(
    "indexed_issues",
    _key("repo_id"),
    _key("number"),
    _column("id", sa.BigInteger()),
    _column("title", sa.Text()),
    _column("state", sa.Text()),
    _column("state_reason", sa.Text(), nullable=True),
    _column("author", sa.Text()),
    _column("bot", sa.Boolean()),
    _column("labels", sa.Text()),
    _column("created_at", _TIME),
    _column("updated_at", _TIME),
    _column("closed_at", _TIME, nullable=True),
    _column("thumbs_up", sa.Integer()),
    _column("thumbs_down", sa.Integer()),
    _column("comments", sa.Integer()),
    _column("duplicate_of", sa.BigInteger(), nullable=True),
    sa.Index("ix_indexed_issues_author", "repo_id", "author", "number"),
    narrow=True,
)

indexed_bodies = _table("indexed_bodies", _key("repo_id"), _key("number"), _column("body", sa.Text()))

# What its text says: the terms of each field, packed (`bot/index/packing.py`). `changed` is the sequence of the change.
indexed_terms = _table(
    "indexed_terms",
    _key("repo_id"),
    _key("number"),
    _column("changed", sa.BigInteger()),
    _column("terms", sa.LargeBinary()),
    sa.Index("ix_indexed_terms_changed", "repo_id", "changed"),
)

indexed_vectors = _table(
    "indexed_vectors",
    _key("repo_id"),
    _key("number"),
    _column("changed", sa.BigInteger()),
    _column("vectors", sa.LargeBinary()),
    sa.Index("ix_indexed_vectors_changed", "repo_id", "changed"),
)

# The number that a term has in a repository, by a hash of the term.
index_vocabulary = _table(
    "index_vocabulary",
    _key("repo_id"),
    _key("hash"),
    _column("term", sa.BigInteger()),
    sa.Index("ix_index_vocabulary_term", "repo_id", "term"),
    narrow=True,
)

# In how many issues a term occurs in a field (`list` is both in one number), and the last few of them.
index_lists = _table(
    "index_lists",
    _key("repo_id"),
    _key("list"),
    _column("issues", sa.BigInteger()),
    _column("tail", sa.LargeBinary()),
    narrow=True,
)

# The earlier ones of a frequent term, in pieces.
index_chunks = _table(
    "index_chunks", _key("repo_id"), _key("list"), _key("chunk"), _column("postings", sa.LargeBinary())
)

# The models that workers have had, and when each was chosen. It is of no repository, and stays.
embedding_models = sa.Table(
    "embedding_models",
    metadata,
    sa.Column("name", sa.Text(), primary_key=True, nullable=False),
    sa.Column("chosen_at", _TIME, nullable=False),
)

# How far the first reading of a repository's issues has come.
backfills = _table(
    "backfills",
    _key("repo_id"),
    _column("cursor", sa.Text()),
    _column("etag", sa.Text()),
    _column("seen", sa.BigInteger()),
    _column("expected", sa.BigInteger(), nullable=True),
    _column("done", sa.Boolean()),
    _column("problem", sa.Text()),
    _column("updated_at", _TIME),
)
