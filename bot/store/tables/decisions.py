"""The tables of decisions, of what people say to them, and of what follows from that."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.tables.schema import ROW_ID, TIME, column, key, metadata

# One look at an issue (`bot/decisions`): `evidence` is JSON without any text of an issue.
decisions = sa.Table(
    "decisions",
    metadata,
    column("id", ROW_ID, primary_key=True),
    column("repo_id", sa.BigInteger()),
    column("number", sa.BigInteger()),
    column("at", TIME),
    column("cause", sa.Text()),
    column("mode", sa.Text()),
    column("outcome", sa.Text()),
    column("reason", sa.Text()),
    column("bar", sa.Float(53)),
    column("evidence", sa.Text()),
    sa.Index("ix_decisions_at", "repo_id", "at"),
    sa.Index("ix_decisions_number", "repo_id", "number"),
)

# What somebody said of a decision other than by a command (`bot/feedback`): each person once in each kind about one
# pair, or with `other` 0 about all that was shown. `who` is what they may do here.
signals = sa.Table(
    "signals",
    metadata,
    key("repo_id"),
    key("number"),
    column("kind", sa.Text(), primary_key=True),
    column("login", sa.Text(), primary_key=True),
    key("other"),
    column("same", sa.Boolean()),
    column("who", sa.Text()),
    column("at", TIME),
)

# The bot's comments whose reactions are read: `node_id` is how GraphQL calls one, empty until it is known, `fold` what
# the bot has done about a 👎.
watched = sa.Table(
    "watched",
    metadata,
    key("repo_id"),
    key("number"),
    column("comment_id", sa.BigInteger()),
    column("node_id", sa.Text()),
    column("fold", sa.Text()),
)

# Where a repository's own feedback has put the bar (null: nowhere else), from what was said after `since`.
calibrations = sa.Table(
    "calibrations",
    metadata,
    key("repo_id"),
    column("bar", sa.Float(53), nullable=True),
    column("since", TIME),
    column("changed_at", TIME),
    column("basis", sa.Text()),
)

# The bot's own issue with the weekly digest. `number` is null from before it is opened until GitHub has answered.
digest_issues = sa.Table(
    "digest_issues",
    metadata,
    key("repo_id"),
    column("number", sa.BigInteger(), nullable=True),
    column("updated_at", TIME),
)
