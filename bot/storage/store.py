"""The store as one object: a gateway for each concern. Also erases and exports a repository across all tables."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from bot.platform.settings import Settings
from bot.storage.commands import HandledCommands, MutedIssues, Usage
from bot.storage.comments import Comments
from bot.storage.decisions import Decisions, Judgements, LabelledIssues
from bot.storage.engine import PATIENCE, make_engine, with_key, write
from bot.storage.feedback import Calibrations, Signals, Verdicts, WatchedComments
from bot.storage.migrate import migrate
from bot.storage.repositories import (
    Backfills,
    CachedFiles,
    OwnIssueKind,
    OwnIssues,
    Repositories,
    StoredRepository,
)
from bot.storage.schema import digest_issues, scan_issues, tables_of_repositories
from bot.storage.sessions import Sessions
from bot.storage.sqlite import empty_log

# Connections in addition to one per worker thread: for background work, tasks, and threads that need more than one.
_SPARE = 4

_OWN_ISSUES = sa.union(
    *(
        sa.select(table.c.number).where(with_key(table, "repo_id"), table.c.number.is_not(None))
        for table in (scan_issues, digest_issues)
    )
)


class Store:
    """Everything the bot remembers, in SQLite or PostgreSQL. Safe to share between threads."""

    def __init__(self, engine: sa.Engine) -> None:
        """The engine is from `make_engine`, its database prepared by `migrate`."""
        self.engine = engine
        self.repositories = Repositories(engine)
        self.backfills = Backfills(engine)
        self.cached_files = CachedFiles(engine)
        self.comments = Comments(engine)
        self.scan_issues = OwnIssues(engine, OwnIssueKind.SCAN)
        self.digest_issues = OwnIssues(engine, OwnIssueKind.DIGEST)
        self.verdicts = Verdicts(engine)
        self.handled_commands = HandledCommands(engine)
        self.muted = MutedIssues(engine)
        self.usage = Usage(engine)
        self.sessions = Sessions(engine)
        self.decisions = Decisions(engine)
        self.labelled = LabelledIssues(engine)
        self.signals = Signals(engine)
        self.watched = WatchedComments(engine)
        self.calibrations = Calibrations(engine)
        self.judgements = Judgements(engine)

    def own_issues(self, repo_id: int) -> set[int]:
        """The numbers of the bot's own issues in a repository. An issue's text does not prove that the bot wrote it."""
        with self.engine.connect() as connection:
            return set(connection.execute(_OWN_ISSUES, {"repo_id": repo_id}).scalars())

    def forget(self, repo_id: int, spared: Callable[[StoredRepository], bool] = lambda _: False) -> int:
        """Erase all that is stored of a repository (C6a); returns the number of rows.

        Erases nothing if `spared` returns True for the stored row: the App may have regained access meanwhile.
        """
        with write(self.engine) as connection:
            # Read the row first: this also locks the row and the index.
            known = self.repositories.lock_and_get(connection, repo_id)
            if known is not None and spared(known):
                return 0
            rows = sum(
                connection.execute(sa.delete(table).where(table.c.repo_id == repo_id)).rowcount
                for table in tables_of_repositories()
            )
        if rows:
            empty_log(self.engine)
        return rows

    def forget_issue(self, repo_id: int, number: int) -> None:
        """Erase what is stored of a deleted or transferred issue, except in the index (see `Index.remove`)."""
        with write(self.engine) as connection:
            for table in tables_of_repositories():
                if "number" in table.c and not table.info.get("index"):
                    of_issue = table.c.number == number
                    # Erase a row about a pair of issues if either of them is this issue.
                    either = sa.or_(of_issue, table.c.other == number) if "other" in table.c else of_issue
                    connection.execute(sa.delete(table).where(table.c.repo_id == repo_id, either))

    def close(self) -> None:
        self.engine.dispose()


def open_store(settings: Settings, *, patience: float = PATIENCE, wait: bool = False) -> Store:
    """The store of `DATABASE_URL`, with its schema up to date; see `make_engine` and `migrate`."""
    engine = make_engine(
        settings.database_url,
        patience=patience,
        synchronous=settings.sqlite_synchronous,
        pool_size=settings.worker_threads + _SPARE,
    )
    migrate(engine, wait=wait)
    return Store(engine)


Row = dict[str, Any]

# Rows to fetch at once; a repository's index can have a hundred thousand rows.
_BATCH = 500


def export(engine: sa.Engine, repo_id: int) -> Iterator[tuple[str, Iterator[Row]]]:
    """Each table's name and rows for JSON, in one snapshot. Read a table's rows before asking for the next table."""
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            # Python's driver opens no transaction for reading.
            connection.exec_driver_sql("BEGIN")
        else:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        for table in tables_of_repositories():
            query = sa.select(table).where(table.c.repo_id == repo_id).order_by(*table.primary_key.columns)
            found = connection.execution_options(yield_per=_BATCH).execute(query)
            yield table.name, (_plain(row) for row in found.mappings())


def _plain(row: sa.RowMapping) -> Row:
    return {
        name: base64.b64encode(value).decode() if isinstance(value, bytes | memoryview) else value
        for name, value in row.items()
    }
