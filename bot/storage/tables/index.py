"""The tables of the repository index (`bot/search/index`), in the store's schema, so that `migrate` and `forget` know
them.

SQLite sorts the tables with narrow rows by their primary key, so that what is read together lies together. Only
`Index.remove` takes issues out, since it also undoes their counts.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from bot.storage.tables.schema import columns, flags, keys, metadata, numbers, strings, times

#: Marks the tables whose rows of one issue only the index itself may delete.
INDEX = {"index": True}


def lock_index(connection: sa.Connection, repo_id: int) -> None:
    """Let nobody else change a repository's index until the transaction ends."""
    if connection.dialect.name == "postgresql":
        # SQLite's write transactions exclude each other anyway. A row that does not exist yet cannot be locked.
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(f"index/{repo_id}", 0))))


def _index_table(name: str, *columns: Any, narrow: bool = False) -> sa.Table:
    table = sa.Table(name, metadata, *columns, info=INDEX, sqlite_with_rowid=not narrow)
    # PostgreSQL's planner expects one row of a repository that came after the last ANALYZE, and reads all its rows for
    # each key. Without statistics it expects many rows of each.
    unknown = sa.DDL("ALTER TABLE %(fullname)s ALTER COLUMN repo_id SET STATISTICS 0")  # type: ignore[no-untyped-call]
    sa.event.listen(table, "after_create", unknown.execute_if(dialect="postgresql"))
    return table


# One row for each repository. `sequence` counts the changes, which tells a process that its memory is outdated;
# `lengths` has the summed lengths of each field as JSON; `centre` is the mean vector, around which cosines are taken;
# `reading` is the version of the analyser that read the issues.
index_states = _index_table(
    "index_states",
    *keys("repo_id"),
    *numbers("sequence", "issues", "next_term"),
    *strings("lengths", "model"),
    *numbers("vectors"),
    *columns(sa.LargeBinary(), "vector_sum", "centre"),
    *numbers("reading"),
)

# An issue as GitHub shows it, without the body, which is seldom read.
indexed_issues = _index_table(
    "indexed_issues",
    *keys("repo_id", "number"),
    *numbers("id"),
    *strings("title", "state"),
    *strings("state_reason", nullable=True),
    *strings("author"),
    *flags("bot"),
    *strings("labels"),
    *times("created_at", "updated_at"),
    *times("closed_at", nullable=True),
    *columns(sa.Integer(), "thumbs_up", "thumbs_down", "comments"),
    *numbers("duplicate_of", nullable=True),
    sa.Index("ix_indexed_issues_author", "repo_id", "author", "number"),
    narrow=True,
)

indexed_bodies = _index_table("indexed_bodies", *keys("repo_id", "number"), *strings("body"))


def _by_change(name: str, column: str) -> sa.Table:
    """Packed data of each issue; `changed` is the sequence of the change."""
    packed = (*keys("repo_id", "number"), *numbers("changed"), *columns(sa.LargeBinary(), column))
    return _index_table(name, *packed, sa.Index(f"ix_{name}_changed", "repo_id", "changed"))


# The terms of each field (`bot/search/index/packing.py`), and the vectors.
indexed_terms, indexed_vectors = _by_change("indexed_terms", "terms"), _by_change("indexed_vectors", "vectors")

# The text model's vector (`bot/search/embedding/local.py`) of title and body, as a scale and bytes. If `changed`
# differs from that in `indexed_terms`, the vector is of a former text.
text_vectors = _index_table(
    "text_vectors",
    *keys("repo_id", "number"),
    *numbers("changed"),
    *strings("model"),
    *columns(sa.LargeBinary(), "vector"),
)

# A term's number in a repository, by a hash of the term.
index_vocabulary = _index_table(
    "index_vocabulary",
    *keys("repo_id", "hash"),
    *numbers("term"),
    sa.Index("ix_index_vocabulary_term", "repo_id", "term"),
    narrow=True,
)

# How many issues have a term in a field (`list` is both in one number), and the last few of them.
index_lists = _index_table(
    "index_lists", *keys("repo_id", "list"), *numbers("issues"), *columns(sa.LargeBinary(), "tail"), narrow=True
)

# The earlier issues of a frequent term, in chunks.
index_chunks = _index_table("index_chunks", *keys("repo_id", "list", "chunk"), *columns(sa.LargeBinary(), "postings"))

# The progress of the first reading of a repository's issues.
backfills = _index_table(
    "backfills",
    *keys("repo_id"),
    *strings("cursor", "etag"),
    *numbers("seen"),
    *numbers("expected", nullable=True),
    *flags("done"),
    *strings("problem"),
    *times("updated_at"),
)
