"""Checks of the databases, the workers and the indexes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator

import sqlalchemy as sa

from bot.deliveries.database import QUEUE, QueueUnavailable, jobs, queue_url
from bot.domain.formats import counted
from bot.interfaces.doctor.checks import Finding, broken, warning, well
from bot.interfaces.monitoring.exposition import read_queue_state
from bot.platform.settings import Settings
from bot.storage.engine import make_engine, redacted, write
from bot.storage.failures import why
from bot.storage.migrate import is_later
from bot.storage.replaced import sqlite_file
from bot.storage.repositories import OFF, Backfills, Repositories
from bot.storage.schema import repositories
from bot.storage.sqlite import is_full

# Seconds. The doctor warns if a delivery waits longer; the alarm in docs/watching.md has the same limit.
LONGEST_WAIT = 300.0
# How long another process may lock the database before the doctor calls the database unusable.
PATIENCE_SECONDS = 5.0


def databases(settings: Settings) -> Iterator[Finding]:
    """Whether store and queue can be written; the state of indexes and workers. Changes nothing."""
    yield from _database("database", settings.database_url, repositories, settings, _store)
    yield from _database("queue", queue_url(settings), jobs, settings, _queue)


def _database(
    subject: str, url: str, table: sa.Table, settings: Settings, content: Callable[[sa.Engine], Iterator[Finding]]
) -> Iterator[Finding]:
    """Whether a database can be written; if `table` exists, also what `content` finds in the database."""
    name, file, missing = redacted(url), sqlite_file(url), False
    engine = make_engine(url, patience=PATIENCE_SECONDS, synchronous=settings.sqlite_synchronous)
    try:
        if file is not None and not file.exists():
            missing = True
            # Check only the folder, because connecting would create the file.
            folder = next(parent for parent in file.absolute().parents if parent.exists())
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, f"{folder} cannot be written")
            finding = well(subject, f"{name} is not there yet; the first start makes it")
        else:
            with write(engine) as connection:
                # Try to create the table and to write it, then undo: a PostgreSQL role may lack one of the two rights.
                table.create(connection, checkfirst=True)
                connection.execute(sa.delete(table).where(sa.false()))
                connection.rollback()
            finding = well(subject, f"{name} can be written")
            if is_full(engine):
                mend = "Make room; Doppel then continues without a restart."
                finding = broken(subject, f"{name} cannot be written: its disk is full", mend)
    except (sa.exc.SQLAlchemyError, OSError) as problem:
        mend = "Check DATABASE_URL; its role must own the tables, or be able to make them (docs/operations.md, Backup)."
        if file is not None:
            mend = "Check DOPPEL_HOME or DATABASE_URL. Run as the file's owner, or grant access."
        finding = broken(subject, f"{name} cannot be used ({why(problem)})", mend)
    yield finding
    try:
        # Read even if writing failed: another process may block only writing.
        if not missing and sa.inspect(engine).has_table(table.name):
            yield from content(engine)
    except (sa.exc.SQLAlchemyError, OSError, QueueUnavailable) as problem:
        if finding.health == "ok":
            mend = "If the schema is older, the next start upgrades it. Else see the log."
            yield warning(subject, f"{name} could not be read ({why(problem.__cause__ or problem)})", mend)
    finally:
        engine.dispose()


def _store(engine: sa.Engine) -> Iterator[Finding]:
    """Warn of indexes that cannot be completed at present, and of the schema of a later release."""
    if is_later(engine):
        says = "of a later release than this one, usable only by that release and its predecessor"
        mend = "Go back to the later release, or restore the backup that was made before it (docs/operations.md)."
        yield warning("schema", says, mend)
    progress_of = Backfills(engine).get
    incomplete = [
        f"{one.ref}: {progress.problem}"
        for one in Repositories(engine).list()
        if (progress := progress_of(one.id)) and progress.problem not in ("", OFF)
    ]
    if incomplete:
        says = f"{len(incomplete)} incomplete, such as {incomplete[0]}"
        yield warning("indexes", says, "`doppel index` names all. Workers try again by themselves.")


def _queue(engine: sa.Engine) -> Iterator[Finding]:
    """Whether workers run and keep up, and whether deliveries failed or were given up."""
    status = read_queue_state(engine)
    longest_wait = status.ages[QUEUE, "waiting"]
    to_do = f"deliveries to work on: {sum(count for (queue, _), count in status.jobs.items() if queue == QUEUE)}"
    if not status.workers:
        silence = status.heartbeat
        heard = "none is running" if silence is None else f"none has been heard of for {silence:.0f} s"
        mend = "`doppel serve` or `doppel worker` starts one. If one runs, its log has the reason, such as a full disk."
        yield warning("worker", f"{heard}; {to_do}", mend)
    elif longest_wait > LONGEST_WAIT:
        says = f"behind: a delivery of {longest_wait / 60:.0f} minutes ago waits; {to_do}"
        yield warning("worker", says, "The log says what keeps it; see docs/operations.md, Sizing.")
    else:
        yield well("worker", f"{status.workers} running; {to_do}")
    if again := status.jobs[QUEUE, "again"]:
        oldest = status.ages[QUEUE, "again"] / 60
        says = f"{counted(again, 'delivery', 'deliveries')} to try again; the oldest came {oldest:.0f} minutes ago"
        yield warning("failed", says, "The log says why. They are tried again by themselves.")
    if status.dead:
        mend = "`doppel jobs` says why, and `doppel jobs retry --all` tries them again."
        yield warning("given up", counted(status.dead, "delivery", "deliveries"), mend)
