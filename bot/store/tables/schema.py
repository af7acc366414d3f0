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
ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TIME = sa.Float(53)


def column(name: str, kind: Any, *, nullable: bool = False, **options: Any) -> sa.Column[Any]:
    """A column that refuses NULL unless told otherwise."""
    return sa.Column(name, kind, nullable=nullable, **options)


def key(name: str) -> sa.Column[int]:
    """A number in the primary key, such as an id of GitHub's, which the database does not count up itself."""
    return column(name, sa.BigInteger(), primary_key=True, autoincrement=False)


repositories = sa.Table(
    "repositories",
    metadata,
    key("repo_id"),
    column("owner", sa.Text()),
    column("name", sa.Text()),
    # GitHub compares names without case; two rows can share one while a renaming is on its way to us.
    column("lookup", sa.Text(), index=True),
    column("private", sa.Boolean()),
    column("archived", sa.Boolean()),
    column("installation", sa.BigInteger(), index=True, nullable=True),
    column("suspended", sa.Boolean()),
    column("updated_at", TIME),
)

# A comment of the bot's own: the advisory one of an issue (`command_id` 0), or the reply to a command in that comment.
comments = sa.Table(
    "comments",
    metadata,
    key("repo_id"),
    key("number"),
    key("command_id"),
    column("state", sa.Text()),
    column("comment_id", sa.BigInteger(), nullable=True),
    column("text_hash", sa.Text()),
    column("body_hash", sa.Text()),
    # The numbers of the candidates that it last showed, as JSON.
    column("shown", sa.Text()),
    column("updated_at", TIME),
)

verdicts = sa.Table(
    "verdicts",
    metadata,
    column("id", ROW_ID, primary_key=True),
    column("repo_id", sa.BigInteger()),
    column("number", sa.BigInteger()),
    column("other", sa.BigInteger()),
    column("kind", sa.Text()),
    column("actor", sa.Text()),
    column("at", TIME),
    column("undone_at", TIME, nullable=True),
    column("undone_by", sa.BigInteger(), nullable=True),
    column("command_id", sa.BigInteger()),
    column("details", sa.Text()),
    # A command that is delivered twice gives one verdict.
    sa.UniqueConstraint("repo_id", "command_id", "kind", "number", "other", name="uq_verdicts_command"),
    sa.Index("ix_verdicts_number", "repo_id", "number"),
    sa.Index("ix_verdicts_other", "repo_id", "other"),
)

# A command that is delivered twice rejects once.
rejected_elsewhere = sa.Table(
    "rejected_elsewhere",
    metadata,
    key("repo_id"),
    key("number"),
    # OWNER/REPO#NUMBER in lower case.
    column("issue", sa.Text(), primary_key=True),
    key("command_id"),
    column("actor", sa.Text()),
    column("at", TIME),
    column("undone_at", TIME, nullable=True),
    column("undone_by", sa.BigInteger(), nullable=True),
)

# What was heeded of a comment with commands: the newest of what it said, by GitHub's time (`said_at`), and the delivery
# that carries it out. `text_hash` is of that time and the commands.
heeded = sa.Table(
    "heeded",
    metadata,
    key("repo_id"),
    key("number"),
    key("comment_id"),
    column("text_hash", sa.Text(), primary_key=True),
    column("said_at", sa.Text()),
    column("delivery", sa.Text()),
    column("done", sa.Boolean()),
)

muted = sa.Table(
    "muted",
    metadata,
    key("repo_id"),
    key("number"),
    column("actor", sa.Text()),
    column("at", TIME),
)

usage = sa.Table(
    "usage",
    metadata,
    key("repo_id"),
    column("login", sa.Text(), primary_key=True),
    column("use", sa.Text(), primary_key=True),
    column("at", TIME),
)

counters = sa.Table(
    "counters",
    metadata,
    column("name", sa.Text(), primary_key=True),
    column("value", sa.BigInteger()),
)

# What each process says of the present, with the time of saying it.
gauges = sa.Table(
    "gauges",
    metadata,
    column("name", sa.Text(), primary_key=True),
    column("process", sa.Text(), primary_key=True),
    column("value", sa.Float(53)),
    column("at", TIME),
)

words = sa.Table(
    "words",
    metadata,
    key("repo_id"),
    column("word", sa.Text(), primary_key=True),
    column("issues", sa.BigInteger()),
)

# Which issues are already in `words`, so that a repeated delivery counts none twice.
counted = sa.Table(
    "counted",
    metadata,
    key("repo_id"),
    key("number"),
)

texts = sa.Table(
    "texts",
    metadata,
    key("repo_id"),
    column("name", sa.Text(), primary_key=True),
    column("text", sa.Text(), nullable=True),
    column("fetched_at", TIME),
)

# People at the dashboard: `key` is the hash of the name that their browser has, `repositories` JSON, `at` the sign-in.
sessions = sa.Table(
    "sessions",
    metadata,
    column("key", sa.Text(), primary_key=True),
    column("login", sa.Text()),
    column("repositories", sa.Text()),
    column("at", TIME),
)


def tables_of_repositories() -> list[sa.Table]:
    """The tables that hold things of a repository: what can be erased."""
    return [table for table in metadata.sorted_tables if "repo_id" in table.c]
