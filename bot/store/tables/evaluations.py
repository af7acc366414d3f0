"""The tables of evaluations: the newest of each repository, and what people said there of duplicates."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.tables.schema import TIME, column, key, metadata

# One row a repository: how far the present run has come (`bot/evaluation/runs.py`), and the newest result as JSON.
evaluations = sa.Table(
    "evaluations",
    metadata,
    key("repo_id"),
    column("stage", sa.Text()),
    column("chain", sa.Text()),
    column("asked_at", TIME),
    column("updated_at", TIME),
    column("done", sa.BigInteger()),
    column("total", sa.BigInteger()),
    column("problem", sa.Text()),
    # GitHub's time of the latest change of which the marks know.
    column("read_until", sa.Text()),
    # Which way of reading comments the marks are of (`bot/evaluation/statements.py`).
    column("reading", sa.Integer(), nullable=True),
    column("result", sa.Text(), nullable=True),
    column("made_at", TIME, nullable=True),
)

# What was said of an issue being a duplicate (`bot/evaluation/statements.py`), as JSON without a word of a text, and
# who closed it for somebody else; only of issues of which there is anything.
duplicate_marks = sa.Table(
    "duplicate_marks",
    metadata,
    key("repo_id"),
    key("number"),
    column("closed_as_duplicate", sa.Boolean()),
    column("statements", sa.Text()),
    column("closed_by", sa.Text(), nullable=True),
)
