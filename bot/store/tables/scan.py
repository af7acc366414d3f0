"""The tables of the backlog scan (`bot/scanning`)."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.tables.schema import TIME, column, key, metadata

# What was found for one issue: `candidates` as JSON, `sequence` the index's count of changes at that time, `model` the
# weights and the vectors that judged.
scan_answers = sa.Table(
    "scan_answers",
    metadata,
    key("repo_id"),
    key("number"),
    column("sequence", sa.BigInteger()),
    column("model", sa.Text()),
    column("candidates", sa.Text()),
)

# The bot's own issue that shows the groups. `number` is null from before it is opened until GitHub has answered.
scan_issues = sa.Table(
    "scan_issues",
    metadata,
    key("repo_id"),
    column("number", sa.BigInteger(), nullable=True),
    column("updated_at", TIME),
)
