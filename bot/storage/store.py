"""The store as one object: a part for each concern, and what erases across all of them."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from bot.platform.settings import Settings
from bot.storage.commands import Heeded, Muted, Usage
from bot.storage.comments import Comments
from bot.storage.decisions import Decisions
from bot.storage.engine import PATIENCE, make_engine, write
from bot.storage.feedback import Calibrations, Signals, WatchedComments
from bot.storage.judging import Judgements
from bot.storage.migrate import migrate
from bot.storage.missed import MissedDeliveries
from bot.storage.repositories import Backfills, Kind, OwnIssues, Repositories, StoredRepository, Texts
from bot.storage.sessions import Sessions
from bot.storage.sqlite import empty_log
from bot.storage.tables.schema import tables_of_repositories
from bot.storage.verdicts import Elsewhere, Verdicts
from bot.storage.words import Words

# Connections beyond one for each thread: for background work and chores, and for threads that need a second one, for
# the words' counts, while they read an index.
_SPARE = 4


class Store:
    """Everything the bot remembers, in SQLite or PostgreSQL. Safe to share between threads."""

    def __init__(self, engine: sa.Engine) -> None:
        """The engine is from `make_engine`, its database prepared by `migrate`."""
        self.engine = engine
        self.repositories = Repositories(engine)
        self.backfills = Backfills(engine)
        self.words = Words(engine)
        self.texts = Texts(engine)
        self.missed = MissedDeliveries(engine)
        self.comments = Comments(engine)
        self.scan_issues = OwnIssues(engine, Kind.SCAN)
        self.digest_issues = OwnIssues(engine, Kind.DIGEST)
        self.verdicts = Verdicts(engine)
        self.elsewhere = Elsewhere(engine)
        self.heeded = Heeded(engine)
        self.muted = Muted(engine)
        self.usage = Usage(engine)
        self.sessions = Sessions(engine)
        self.decisions = Decisions(engine)
        self.signals = Signals(engine)
        self.watched = WatchedComments(engine)
        self.calibrations = Calibrations(engine)
        self.judgements = Judgements(engine)

    def own_issues(self, repo_id: int) -> set[int]:
        """The numbers of the bot's own issues here. (Somebody may edit their marker away.)"""
        kept = (issues.get(repo_id) for issues in (self.scan_issues, self.digest_issues))
        return {one.number for one in kept if one is not None and one.number is not None}

    def forget(self, repo_id: int, spared: Callable[[StoredRepository], bool] = lambda _: False) -> int:
        """Erase all that is stored of a repository (C6a); returns the number of rows.

        It erases nothing if the stored row is `spared`: the repository may be ours again since access was seen to end.
        """
        with write(self.engine) as connection:
            # Before all else: it locks the row.
            known = self.repositories.locked(connection, repo_id)
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
                    mine = table.c.number == number
                    # Statements about a pair go with either issue.
                    either = sa.or_(mine, table.c.other == number) if "other" in table.c else mine
                    connection.execute(sa.delete(table).where(table.c.repo_id == repo_id, either))

    def close(self) -> None:
        """Close the connections."""
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
