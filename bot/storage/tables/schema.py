"""The store's tables. Rows of a repository have its GitHub id as `repo_id`, because names can change.

`forget` finds the tables of a repository by that column, and those of an issue by `repo_id` and `number`, so such data
must have these names. Times are seconds since 1970. A test checks that the migrations make the same tables.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()

# SQLite numbers rows by itself only if the primary key's type is exactly INTEGER.
ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TIME = sa.Float(53)


def column(name: str, kind: Any, *, nullable: bool = False, **options: Any) -> sa.Column[Any]:
    """A column that refuses NULL unless it is `nullable`."""
    return sa.Column(name, kind, nullable=nullable, **options)


def key(name: str) -> sa.Column[int]:
    """A number in the primary key that the database does not count up, such as GitHub's ids."""
    return column(name, sa.BigInteger(), primary_key=True, autoincrement=False)


repositories = sa.Table(
    "repositories",
    metadata,
    key("repo_id"),
    column("owner", sa.Text()),
    column("name", sa.Text()),
    # GitHub ignores the case of names. Two rows can share a name while a renaming is on its way to us.
    column("lookup", sa.Text(), index=True),
    column("private", sa.Boolean()),
    column("archived", sa.Boolean()),
    column("installation", sa.BigInteger(), index=True, nullable=True),
    column("suspended", sa.Boolean()),
    column("updated_at", TIME),
)

# The bot's own comments: the advisory one of an issue (`command_id` 0), or the reply to the commands in a comment.
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
    # The candidates that it last showed, as JSON.
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
    # A command that comes twice gives one verdict.
    sa.UniqueConstraint("repo_id", "command_id", "kind", "number", "other", name="uq_verdicts_command"),
    sa.Index("ix_verdicts_number", "repo_id", "number"),
    sa.Index("ix_verdicts_other", "repo_id", "other"),
)

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

# The commands of a comment that are carried out: those of its newest text by GitHub's time (`said_at`), and the
# delivery that does it. `text_hash` is of that time and the commands.
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

# What the judge said of two issues. `key` is of both texts, the model and the prompts (`bot/search/judge/prompt.py`).
judgements = sa.Table(
    "judgements",
    metadata,
    key("repo_id"),
    column("key", sa.Text(), primary_key=True),
    column("number", sa.BigInteger()),
    column("other", sa.BigInteger()),
    column("verdict", sa.Text()),
    column("shared_cause", sa.Text()),
    column("differs", sa.Text()),
    column("said_by", sa.Text()),
    column("at", TIME),
    sa.Index("ix_judgements_number", "repo_id", "number"),
)

# A question to the judge, counted with what it will take at most until its answer is there.
judge_calls = sa.Table(
    "judge_calls",
    metadata,
    column("id", ROW_ID, primary_key=True),
    column("repo_id", sa.BigInteger()),
    column("number", sa.BigInteger()),
    column("login", sa.Text()),
    column("at", TIME, index=True),
    column("tokens_in", sa.BigInteger()),
    column("tokens_out", sa.BigInteger()),
    column("cost", TIME),
    column("seconds", TIME),
)

words = sa.Table(
    "words",
    metadata,
    key("repo_id"),
    column("word", sa.Text(), primary_key=True),
    column("issues", sa.BigInteger()),
)

# The issues that `words` counts already, so that a repeated delivery counts none twice.
counted = sa.Table("counted", metadata, key("repo_id"), key("number"))

texts = sa.Table(
    "texts",
    metadata,
    key("repo_id"),
    column("name", sa.Text(), primary_key=True),
    column("text", sa.Text(), nullable=True),
    column("fetched_at", TIME),
)

# The dashboard's sessions: `key` is the hash of the browser's token, `repositories` JSON, `at` the time of signing in.
sessions = sa.Table(
    "sessions",
    metadata,
    column("key", sa.Text(), primary_key=True),
    column("login", sa.Text()),
    column("repositories", sa.Text()),
    column("at", TIME),
)


def tables_of_repositories() -> list[sa.Table]:
    """The tables with rows of repositories, from which these can be erased."""
    return [table for table in metadata.sorted_tables if "repo_id" in table.c]


# The bot's decisions about issues (`bot/domain/decisions`): `evidence` is JSON without any text of an issue.
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

# Feedback on a decision other than by a command (`bot.quality.feedback`): one signal of each kind from each person
# about one pair, or with `other` 0 about the whole comment. `who` is what they may do here.
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

# The bot's comments whose reactions are read: `node_id` is GraphQL's id, empty until it is known, `fold` what the bot
# has done about a 👎.
watched = sa.Table(
    "watched",
    metadata,
    key("repo_id"),
    key("number"),
    column("comment_id", sa.BigInteger()),
    column("node_id", sa.Text()),
    column("fold", sa.Text()),
)

# A repository's calibrated threshold `bar` (null: the one of the settings), by the feedback after `since`.
calibrations = sa.Table(
    "calibrations",
    metadata,
    key("repo_id"),
    column("bar", sa.Float(53), nullable=True),
    column("since", TIME),
    column("changed_at", TIME),
    column("basis", sa.Text()),
)


def _own_issues(name: str) -> sa.Table:
    """The bot's own issues of one kind. `number` is null from before one is opened until GitHub has answered."""
    number = column("number", sa.BigInteger(), nullable=True)
    return sa.Table(name, metadata, key("repo_id"), number, column("updated_at", TIME))


digest_issues, scan_issues = _own_issues("digest_issues"), _own_issues("scan_issues")

# The newest evaluation of each repository, as JSON.
evaluations = sa.Table(
    "evaluations",
    metadata,
    key("repo_id"),
    column("stage", sa.Text()),
    column("chain", sa.Text()),
    column("asked_at", TIME),
    column("problem", sa.Text()),
    column("result", sa.Text(), nullable=True),
    column("made_at", TIME, nullable=True),
)

# Deliveries that were not taken, by GUID: the last attempt, and how often we asked for another.
missed = sa.Table(
    "missed",
    metadata,
    column("guid", sa.Text(), primary_key=True),
    column("delivery_id", sa.BigInteger()),
    column("failed_at", TIME),
    column("status_code", sa.BigInteger()),
    column("asked", sa.BigInteger()),
    column("asked_at", TIME),
)

# How far GitHub's growing lists have been read, by name.
marks = sa.Table("marks", metadata, column("name", sa.Text(), primary_key=True), column("at", TIME))

# The scan's findings for one issue: `candidates` as JSON, `sequence` of the index at that time, `model` the weights and
# vectors that judged.
scan_answers = sa.Table(
    "scan_answers",
    metadata,
    key("repo_id"),
    key("number"),
    column("sequence", sa.BigInteger()),
    column("model", sa.Text()),
    column("candidates", sa.Text()),
)
