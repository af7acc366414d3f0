"""The table of issues that the comment has offered to close after some time."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.tables.schema import TIME, column, key, metadata

# Each issue once: in favour of which it may be closed, since when that is announced, and what came of it
# (`handlers/closing/rule.py`).
closings = sa.Table(
    "closings",
    metadata,
    key("repo_id"),
    key("number"),
    column("other", sa.BigInteger()),
    column("days", sa.BigInteger()),
    column("since", TIME),
    column("state", sa.Text()),
)
