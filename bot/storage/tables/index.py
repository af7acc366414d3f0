"""The tables of the repository index (`bot/search/index`), in the store's schema, so that `migrate` and `forget` know
them.

SQLite sorts the tables with narrow rows by their primary key, so that what is read together lies together. Only
`Index.remove` takes issues out, since it also undoes their counts.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from bot.storage.tables.schema import TIME, column, key, metadata

#: Marks the tables whose rows of one issue only the index itself may delete.
INDEX = {"index": True}


def lock_index(connection: sa.Connection, repo_id: int) -> None:
    """Let nobody else change a repository's index until the transaction ends."""
    if connection.dialect.name == "postgresql":
        # SQLite's write transactions exclude each other anyway. A row that does not exist yet cannot be locked.
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(f"index/{repo_id}", 0))))


def _table(name: str, *columns: Any, narrow: bool = False) -> sa.Table:
    table = sa.Table(name, metadata, *columns, info=INDEX, sqlite_with_rowid=not narrow)
    # PostgreSQL's planner expects one row of a repository that came after the last ANALYZE, and reads all its rows for
    # each key. Without statistics it expects many rows of each.
    unknown = sa.DDL("ALTER TABLE %(fullname)s ALTER COLUMN repo_id SET STATISTICS 0")  # type: ignore[no-untyped-call]
    sa.event.listen(table, "after_create", unknown.execute_if(dialect="postgresql"))
    return table


# One row for each repository. `sequence` counts the changes, which tells a process that its memory is outdated;
# `lengths` has the summed lengths of each field as JSON; `centre` is the mean vector, around which cosines are taken;
# `reading` is the version of the analyser that read the issues.
index_states = _table(
    "index_states",
    key("repo_id"),
    column("sequence", sa.BigInteger()),
    column("issues", sa.BigInteger()),
    column("next_term", sa.BigInteger()),
    column("lengths", sa.Text()),
    column("model", sa.Text()),
    column("vectors", sa.BigInteger()),
    column("vector_sum", sa.LargeBinary()),
    column("centre", sa.LargeBinary()),
    column("reading", sa.BigInteger()),
)

# An issue as GitHub shows it, without the body, which is seldom read.
indexed_issues = _table(
    "indexed_issues",
    key("repo_id"),
    key("number"),
    column("id", sa.BigInteger()),
    column("title", sa.Text()),
    column("state", sa.Text()),
    column("state_reason", sa.Text(), nullable=True),
    column("author", sa.Text()),
    column("bot", sa.Boolean()),
    column("labels", sa.Text()),
    column("created_at", TIME),
    column("updated_at", TIME),
    column("closed_at", TIME, nullable=True),
    column("thumbs_up", sa.Integer()),
    column("thumbs_down", sa.Integer()),
    column("comments", sa.Integer()),
    column("duplicate_of", sa.BigInteger(), nullable=True),
    sa.Index("ix_indexed_issues_author", "repo_id", "author", "number"),
    narrow=True,
)

indexed_bodies = _table("indexed_bodies", key("repo_id"), key("number"), column("body", sa.Text()))

# The terms of each field, packed (`bot/search/index/arrays.py`). `changed` is the sequence of the change.
indexed_terms = _table(
    "indexed_terms",
    key("repo_id"),
    key("number"),
    column("changed", sa.BigInteger()),
    column("terms", sa.LargeBinary()),
    sa.Index("ix_indexed_terms_changed", "repo_id", "changed"),
)

indexed_vectors = _table(
    "indexed_vectors",
    key("repo_id"),
    key("number"),
    column("changed", sa.BigInteger()),
    column("vectors", sa.LargeBinary()),
    sa.Index("ix_indexed_vectors_changed", "repo_id", "changed"),
)

# The text model's vector (`bot/search/embedding/local.py`) of title and body, as a scale and bytes. If `changed`
# differs from that in `indexed_terms`, the vector is of a former text.
text_vectors = _table(
    "text_vectors",
    key("repo_id"),
    key("number"),
    column("changed", sa.BigInteger()),
    column("model", sa.Text()),
    column("vector", sa.LargeBinary()),
)

# A term's number in a repository, by a hash of the term.
index_vocabulary = _table(
    "index_vocabulary",
    key("repo_id"),
    key("hash"),
    column("term", sa.BigInteger()),
    sa.Index("ix_index_vocabulary_term", "repo_id", "term"),
    narrow=True,
)

# How many issues have a term in a field (`list` is both in one number), and the last few of them.
index_lists = _table(
    "index_lists",
    key("repo_id"),
    key("list"),
    column("issues", sa.BigInteger()),
    column("tail", sa.LargeBinary()),
    narrow=True,
)

# The earlier issues of a frequent term, in chunks.
index_chunks = _table("index_chunks", key("repo_id"), key("list"), key("chunk"), column("postings", sa.LargeBinary()))

# The progress of the first reading of a repository's issues.
backfills = _table(
    "backfills",
    key("repo_id"),
    column("cursor", sa.Text()),
    column("etag", sa.Text()),
    column("seen", sa.BigInteger()),
    column("expected", sa.BigInteger(), nullable=True),
    column("done", sa.Boolean()),
    column("problem", sa.Text()),
    column("updated_at", TIME),
)
