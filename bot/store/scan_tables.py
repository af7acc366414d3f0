"""The tables of the backlog scan (`bot/scanning`)."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.schema import metadata

# What was found for one issue: `candidates` as JSON, `sequence` the index's count of changes at that time, `model` the
# weights and the vectors that judged.
scan_answers = sa.Table(
    "scan_answers",
    metadata,
    sa.Column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
    sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
    sa.Column("sequence", sa.BigInteger(), nullable=False),
    sa.Column("model", sa.Text(), nullable=False),
    sa.Column("candidates", sa.Text(), nullable=False),
)

# The bot's own issue that shows the groups. `number` is null from before it is opened until GitHub has answered.
scan_issues = sa.Table(
    "scan_issues",
    metadata,
    sa.Column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
    sa.Column("number", sa.BigInteger(), nullable=True),
    sa.Column("updated_at", sa.Float(53), nullable=False),
)
