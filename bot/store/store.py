"""The store as one object: a part for each concern, and erasing across all of them."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from bot.settings import Settings
from bot.store.database.engine import PATIENCE, make_engine, write
from bot.store.database.migrate import migrate
from bot.store.database.sqlite import empty_log
from bot.store.parts.commands import Heeded, Muted, Usage
from bot.store.parts.comments import Comments
from bot.store.parts.decisions import Decisions
from bot.store.parts.feedback import Calibrations, Signals, WatchedComments
from bot.store.parts.judging import Judgements
from bot.store.parts.missed import MissedDeliveries
from bot.store.parts.repositories import Backfills, Kind, OwnIssues, Repositories, StoredRepository, Texts
from bot.store.parts.sessions import Sessions
from bot.store.parts.verdicts import Elsewhere, Verdicts
from bot.store.parts.words import Words
from bot.store.tables.schema import tables_of_repositories

# Connections beside one for each thread. A thread that holds one while it reads an index may ask for a second, of the
# words' counts: as long as not all are held so, everybody gets on. The background's and the chores' threads are more.
_SPARE = 4


class Store:
    """Everything the bot remembers, in SQLite or PostgreSQL. Safe to share between threads."""

    def __init__(self, engine: sa.Engine) -> None:
        """Use an engine made by `make_engine`, on a database that `migrate` has prepared."""
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
        """The numbers of the issues that the bot itself keeps here, from which an edit can take the marker off."""
        kept = (issues.get(repo_id) for issues in (self.scan_issues, self.digest_issues))
        return {one.number for one in kept if one is not None and one.number is not None}

    def forget(self, repo_id: int, spared: Callable[[StoredRepository], bool] = lambda _: False) -> int:
        """Erase all that is stored of a repository (C6a); returns how many rows that were.

        Nothing goes where it is `spared` as it is known by then: since somebody saw access end, it may be ours again.
        """
        with write(self.engine) as connection:
            # First of all, also for whoever holds on to its row while they write (`Etags.put`).
            known = self.repositories.held(connection, repo_id)
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
        """Erase what is stored of one issue, because it was deleted or has moved elsewhere.

        The index erases its own part (`Index.remove`), since it has to take back what it counted.
        """
        with write(self.engine) as connection:
            for table in tables_of_repositories():
                if "number" in table.c and not table.info.get("index"):
                    mine = table.c.number == number
                    # What was said of a pair goes with either of the two.
                    either = sa.or_(mine, table.c.other == number) if "other" in table.c else mine
                    connection.execute(sa.delete(table).where(table.c.repo_id == repo_id, either))

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()


def open_store(settings: Settings, *, patience: float = PATIENCE, wait: bool = False) -> Store:
    """The store of `DATABASE_URL`, with its schema brought up to date.

    `patience` is as in `make_engine`, `wait` as in `migrate`.
    """
    engine = make_engine(
        settings.database_url,
        patience=patience,
        synchronous=settings.sqlite_synchronous,
        pool_size=settings.worker_threads + _SPARE,
    )
    migrate(engine, wait=wait)
    return Store(engine)
