"""The store's tables. Rows of a repository have its GitHub id as `repo_id`, because names can change.

`Store.forget` deletes rows by the column `repo_id`. `Store.forget_issue` deletes rows by `repo_id`,
`number` and `other`. So keep these names. Times are seconds since 1970, except `heeded.said_at`. A
test checks that the migrations make the same tables.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from bot.storage.engine import lock

metadata = sa.MetaData()

# SQLite assigns the numbers of rows only if the primary key's type is exactly INTEGER.
ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TIME = sa.Float(53)
Columns = list[sa.Column[Any]]


def columns(kind: Any, *names: str, nullable: bool = False, **options: Any) -> Columns:
    """Columns of one type, which refuse NULL unless they are `nullable`."""
    return [sa.Column(name, kind, nullable=nullable, **options) for name in names]


def keys(*names: str) -> Columns:
    """Numbers in the primary key that the database does not assign, such as GitHub's ids."""
    return columns(sa.BigInteger(), *names, primary_key=True, autoincrement=False)


def text_keys(*names: str) -> Columns:
    return columns(sa.Text(), *names, primary_key=True)


def numbers(*names: str, **options: Any) -> Columns:
    return columns(sa.BigInteger(), *names, **options)


def strings(*names: str, **options: Any) -> Columns:
    return columns(sa.Text(), *names, **options)


def times(*names: str, **options: Any) -> Columns:
    """Seconds since 1970."""
    return columns(TIME, *names, **options)


def flags(*names: str) -> Columns:
    return columns(sa.Boolean(), *names)


def _table(name: str, *parts: Any) -> sa.Table:
    return sa.Table(name, metadata, *parts)


def _row_id() -> Columns:
    return columns(ROW_ID, "id", primary_key=True)


# `lookup` is `owner/name` in lower case: GitHub ignores case. Two rows can share a name until the bot learns of a
# renaming.
repositories = _table(
    "repositories",
    *keys("repo_id"),
    *strings("owner", "name"),
    *strings("lookup", index=True),
    *flags("private", "archived"),
    *numbers("installation", index=True, nullable=True),
    *flags("suspended"),
    *times("updated_at"),
)

# The bot's own comments (`StoredComment`): `command_id` is 0 for an answer to the issue itself, and `shown` is JSON.
comments = _table(
    "comments",
    *keys("repo_id", "number", "command_id"),
    *strings("state"),
    *numbers("comment_id", nullable=True),
    *strings("text_hash", "body_hash", "shown"),
    *times("updated_at"),
)

# People's verdicts by command; the unique constraint keeps out redelivered commands. `other` is the
# second issue. If that issue is in another repository, `other` is 0 and `issue` is OWNER/REPO#NUMBER in lower case.
verdicts = _table(
    "verdicts",
    *_row_id(),
    *numbers("repo_id", "number", "other"),
    *strings("kind", "actor"),
    *times("at"),
    *times("undone_at", nullable=True),
    *numbers("undone_by", nullable=True),
    *numbers("command_id"),
    *strings("details"),
    *strings("issue"),
    sa.UniqueConstraint("repo_id", "command_id", "kind", "number", "other", "issue", name="uq_verdicts_command"),
    sa.Index("ix_verdicts_number", "repo_id", "number"),
    sa.Index("ix_verdicts_other", "repo_id", "other"),
)

# The delivery that carries out the commands in a comment's newest text (`HandledCommands` explains the columns).
heeded = _table(
    "heeded",
    *keys("repo_id", "number", "comment_id"),
    *text_keys("text_hash"),
    *strings("said_at", "delivery"),
    *flags("done"),
)

muted = _table("muted", *keys("repo_id", "number"), *strings("actor"), *times("at"))

# Recent commands and other limited uses (`Usage`). `use` is the unique name of one use.
usage = _table("usage", *keys("repo_id"), *text_keys("login", "use"), *times("at"))

# The judge's verdicts on pairs of issues. `key` stands for both texts, the model and the prompts
# (`bot/search/judge/prompt.py`).
judgements = _table(
    "judgements",
    *keys("repo_id"),
    *text_keys("key"),
    *numbers("number", "other"),
    *strings("verdict", "shared_cause", "differs", "said_by"),
    *times("at"),
    sa.Index("ix_judgements_number", "repo_id", "number"),
)

# Questions to the judge. Until the answer arrives, `tokens_in` is the most tokens for question and answer together.
judge_calls = _table(
    "judge_calls",
    *_row_id(),
    *numbers("repo_id", "number"),
    *strings("login"),
    *times("at", index=True),
    *numbers("tokens_in", "tokens_out"),
    *columns(sa.Float(53), "cost", "seconds"),
)

# Files of repositories as last fetched (`CachedFiles`).
texts = _table("texts", *keys("repo_id"), *text_keys("name"), *strings("text", nullable=True), *times("fetched_at"))

# Dashboard sessions: `key` is the cookie's hash, `repositories` is JSON, `at` is the sign-in time.
sessions = _table("sessions", *text_keys("key"), *strings("login", "repositories"), *times("at"))


def tables_of_repositories() -> list[sa.Table]:
    """The tables that have rows of repositories."""
    return [table for table in metadata.sorted_tables if "repo_id" in table.c]


# The bot's decisions about issues (`bot/domain/decisions.py`): `bar` is the threshold, `evidence` is JSON without any
# text of an issue.
decisions = _table(
    "decisions",
    *_row_id(),
    *numbers("repo_id", "number"),
    *times("at"),
    *strings("cause", "mode", "outcome", "reason"),
    *columns(sa.Float(53), "bar"),
    *strings("evidence"),
    sa.Index("ix_decisions_at", "repo_id", "at"),
    sa.Index("ix_decisions_number", "repo_id", "number"),
)

# Issues that the bot labelled `duplicate`. `place` counts the label's additions and removals before the bot's addition.
labelled = _table("labelled", *keys("repo_id", "number"), *numbers("place"))

# People's feedback by other means than commands (`FeedbackSignal`): one of each kind from each person about a pair.
signals = _table(
    "signals",
    *keys("repo_id", "number"),
    *text_keys("kind", "login"),
    *keys("other"),
    *flags("same"),
    *strings("who"),
    *times("at"),
)

# The bot's comments whose reactions the bot reads (`WatchedComment`).
watched = _table("watched", *keys("repo_id", "number"), *numbers("comment_id"), *strings("node_id", "fold"))

# `bar` is a repository's threshold, calibrated from the feedback after `since`; if null, the settings' threshold holds.
calibrations = _table(
    "calibrations",
    *keys("repo_id"),
    *columns(sa.Float(53), "bar", nullable=True),
    *times("since", "changed_at"),
    *strings("basis"),
)


def _own_issues(name: str) -> sa.Table:
    """The bot's own issues of one kind. `number` is null until GitHub has answered the request to open the issue."""
    return _table(name, *keys("repo_id"), *numbers("number", nullable=True), *times("updated_at"))


digest_issues, scan_issues = _own_issues("digest_issues"), _own_issues("scan_issues")

# The newest evaluation of each repository: `chain` identifies its job, and `result` is JSON.
evaluations = _table(
    "evaluations",
    *keys("repo_id"),
    *strings("stage", "chain"),
    *times("asked_at"),
    *strings("problem"),
    *strings("result", nullable=True),
    *times("made_at", nullable=True),
)

# The scan's `candidates` for one issue, as JSON. `sequence` is the one in `index_states` before the search. `model`
# names the weights and vectors that scored the candidates.
scan_answers = _table("scan_answers", *keys("repo_id", "number"), *numbers("sequence"), *strings("model", "candidates"))


# INDEX marks the tables of `bot/search/index`. Only `Index.remove` may delete an issue there: it also updates counts.
INDEX = {"index": True}


def lock_index(connection: sa.Connection, repo_id: int) -> None:
    """Let nobody else write a repository's row or index until the transaction ends, even if there is no row yet."""
    lock(connection, f"index/{repo_id}")


def _index_table(name: str, *parts: Any, narrow: bool = False) -> sa.Table:
    """A table of the index. SQLite stores a `narrow` one in the order of its primary key."""
    table = sa.Table(name, metadata, *parts, info=INDEX, sqlite_with_rowid=not narrow)
    # If a repository is newer than the last ANALYZE, PostgreSQL expects one row for the repository. To find an issue or
    # term, PostgreSQL would then read all the repository's rows. Without statistics it expects many rows.
    no_statistics = sa.DDL("ALTER TABLE %(fullname)s ALTER COLUMN repo_id SET STATISTICS 0")  # type: ignore[no-untyped-call]
    sa.event.listen(table, "after_create", no_statistics.execute_if(dialect="postgresql"))
    return table


# One row for each repository (`IndexState`). `sequence` counts the changes, so that a process notices an outdated copy
# in its memory. `lengths` has the summed lengths of each field, as JSON. `centre` is the mean vector, which is
# subtracted before cosines are taken. `reading` is the version of the analyser that read the issues.
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
    """Packed data of each issue; `changed` is the index's `sequence` at the issue's last change."""
    packed = (*keys("repo_id", "number"), *numbers("changed"), *columns(sa.LargeBinary(), column))
    return _index_table(name, *packed, sa.Index(f"ix_{name}_changed", "repo_id", "changed"))


# The terms of each field (`bot/search/index/arrays.py`), and each issue's two vectors (`vectors.py` there).
indexed_terms, indexed_vectors = _by_change("indexed_terms", "terms"), _by_change("indexed_vectors", "vectors")

# The text model's vector (`bot/search/embedding/local_models.py`) of title and body: a scale, then a byte for each
# dimension. If `changed` differs from `changed` in `indexed_terms`, the vector is of an earlier text.
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

# The posting list of a term in a field: `list` combines the numbers of term and field, `issues` is the list's length,
# `tail` has its last postings.
index_lists = _index_table(
    "index_lists", *keys("repo_id", "list"), *numbers("issues"), *columns(sa.LargeBinary(), "tail"), narrow=True
)

# The earlier postings of a frequent term, in chunks.
index_chunks = _index_table("index_chunks", *keys("repo_id", "list", "chunk"), *columns(sa.LargeBinary(), "postings"))

# The progress of each backfill (`Progress`).
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
