"""The tables. What belongs to a repository carries its GitHub id as `repo_id`, because names can change.

`forget` finds the tables of a repository by that column, and those of an issue by `repo_id` and `number`; a table that
holds such data under other names would be left behind. Times are seconds since 1970, UTC. The migrations make these
tables; a test holds that both agree.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()

# SQLite numbers rows by itself only where the primary key's type is exactly INTEGER.
_ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TIME = sa.Float(53)


def _column(name: str, kind: Any, *, nullable: bool = False, **options: Any) -> sa.Column[Any]:
    """A column that refuses NULL unless told otherwise."""
    return sa.Column(name, kind, nullable=nullable, **options)


repositories = sa.Table(
    "repositories",
    metadata,
    _column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("owner", sa.Text()),
    _column("name", sa.Text()),
    # GitHub compares names without case; two rows can share one while a renaming is on its way to us.
    _column("lookup", sa.Text(), index=True),
    _column("private", sa.Boolean()),
    _column("archived", sa.Boolean()),
    _column("installation", sa.BigInteger(), index=True, nullable=True),
    _column("suspended", sa.Boolean()),
    _column("updated_at", _TIME),
)

# A comment of the bot's own: the advisory one of an issue (`command_id` 0), or the reply to a command in that comment.
comments = sa.Table(
    "comments",
    metadata,
    _column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("command_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("state", sa.Text()),
    _column("comment_id", sa.BigInteger(), nullable=True),
    _column("text_hash", sa.Text()),
    _column("body_hash", sa.Text()),
    # The numbers of the candidates that it last showed, as JSON.
    _column("shown", sa.Text()),
    _column("updated_at", _TIME),
)

verdicts = sa.Table(
    "verdicts",
    metadata,
    _column("id", _ROW_ID, primary_key=True),
    _column("repo_id", sa.BigInteger()),
    _column("number", sa.BigInteger()),
    _column("other", sa.BigInteger()),
    _column("kind", sa.Text()),
    _column("actor", sa.Text()),
    _column("at", _TIME),
    _column("undone_at", _TIME, nullable=True),
    _column("undone_by", sa.BigInteger(), nullable=True),
    _column("command_id", sa.BigInteger()),
    _column("details", sa.Text()),
    # A command that is delivered twice gives one verdict.
    sa.UniqueConstraint("repo_id", "command_id", "kind", "number", "other", name="uq_verdicts_command"),
    sa.Index("ix_verdicts_number", "repo_id", "number"),
    sa.Index("ix_verdicts_other", "repo_id", "other"),
)

muted = sa.Table(
    "muted",
    metadata,
    _column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("actor", sa.Text()),
    _column("at", _TIME),
)

usage = sa.Table(
    "usage",
    metadata,
    _column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("login", sa.Text(), primary_key=True),
    _column("use", sa.Text(), primary_key=True),
    _column("at", _TIME),
)

counters = sa.Table(
    "counters",
    metadata,
    _column("name", sa.Text(), primary_key=True),
    _column("value", sa.BigInteger()),
)

words = sa.Table(
    "words",
    metadata,
    _column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("word", sa.Text(), primary_key=True),
    _column("issues", sa.BigInteger()),
)

# Which issues are already in `words`, so that a repeated delivery counts none twice.
counted = sa.Table(
    "counted",
    metadata,
    _column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
)

texts = sa.Table(
    "texts",
    metadata,
    _column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("name", sa.Text(), primary_key=True),
    _column("text", sa.Text(), nullable=True),
    _column("fetched_at", _TIME),
)

# Answers of GitHub, with the ETag among the headers (JSON) and the body compressed. `account` is whose token asked,
# `number` the issue that it is about, or 0. It is only a cache: erasing it loses nothing.
etags = sa.Table(
    "etags",
    metadata,
    _column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False),
    _column("account", sa.Text(), primary_key=True),
    _column("url", sa.Text(), primary_key=True),
    _column("number", sa.BigInteger()),
    _column("headers", sa.Text()),
    _column("body", sa.LargeBinary()),
    _column("stored_at", _TIME),
)

# Installation tokens, sealed. `scope` is the installation and what its token is narrowed to.
tokens = sa.Table(
    "tokens",
    metadata,
    _column("scope", sa.Text(), primary_key=True),
    _column("sealed", sa.LargeBinary()),
    _column("expires_at", _TIME),
)

# What was paid of GitHub's budgets, each for as long as it counts; `account` is whose budget it is.
spent = sa.Table(
    "spent",
    metadata,
    _column("account", sa.Text()),
    _column("budget", sa.Text()),
    _column("at", _TIME),
    _column("units", sa.BigInteger()),
    sa.Index("spent_account", "account", "budget"),
)
