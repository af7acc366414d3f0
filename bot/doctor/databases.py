"""The databases, and who is at work on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from bot.counted import counted
from bot.doctor.finding import Finding, Health
from bot.embedding import Embedder
from bot.index.vectors import models
from bot.jobs.inspection.standing import Standing, standing
from bot.jobs.queue.database import QUEUE, SCHEMA, queue_url, workflow_table
from bot.jobs.queue.job import QueueUnavailable
from bot.settings import Settings
from bot.store.database.engine import make_engine, shown, write
from bot.store.database.failures import why
from bot.store.database.files import sqlite_file
from bot.store.database.migrate import is_later
from bot.store.database.sqlite import is_full
from bot.store.parts.repositories import OFF
from bot.store.tables.index import backfills
from bot.store.tables.schema import repositories

_T = TypeVar("_T")

# A delivery that waits for longer is worth a word, as docs/watching.md has it for an alarm.
LONGEST_WAIT = 300.0
# How long another process may hold the database before it counts as unusable.
PATIENCE_SECONDS = 5.0

# Who owns a table of PostgreSQL's that this role may not write. By the catalogue, since asking for a table by its name
# fails in a schema that is another's.
_OWNER = sa.text(
    "SELECT pg_get_userbyid(relowner) FROM pg_class JOIN pg_namespace AS place ON place.oid = relnamespace"
    " WHERE nspname = coalesce(:schema, current_schema()) AND relname = :name"
    " AND NOT (has_schema_privilege(place.oid, 'USAGE') AND has_table_privilege(pg_class.oid, 'INSERT'))"
)


class _DiskFullError(OSError):
    """A database can be read, and even locked, but takes nothing more."""


class _UnwritableError(OSError):
    """A database or its place is there, but not for us to write; says so, and how to mend it, in words for people."""

    def __init__(self, says: str, mend: str = "Check DATABASE_URL, or that DOPPEL_HOME can be written.") -> None:
        super().__init__(says)
        self.mend = mend


def writable(settings: Settings) -> Iterator[Finding]:
    """Whether the store and the queue can be written; neither is made."""
    for subject, url in (("database", settings.database_url), ("queue", queue_url(settings))):
        name = shown(url)
        try:
            yield Finding(
                Health.WELL,
                subject,
                f"{name} {_look_into(url, settings.sqlite_synchronous, index=subject == 'database')}",
            )
        except _DiskFullError:
            mend = "Make room; Doppel need not be started anew. What waits is worked on then."
            yield Finding(Health.BROKEN, subject, f"{name} cannot be written: its disk is full", mend)
        except _UnwritableError as problem:
            yield Finding(Health.BROKEN, subject, f"{name} cannot be used ({problem})", problem.mend)
        except PermissionError as refused:
            says = f"{name} cannot be used ({why(refused)})"
            yield Finding(Health.BROKEN, subject, says, "Run as the user that owns it.")
        except (sa.exc.SQLAlchemyError, OSError) as problem:
            mend = "Check DATABASE_URL, or that DOPPEL_HOME can be written."
            if _is_of_another(url):
                # SQLite says of such a file only that it cannot be opened, or is read-only.
                mend = "Run as the user that owns it, or let this one read and write it."
            yield Finding(Health.BROKEN, subject, f"{name} cannot be used ({why(problem)})", mend)


def _is_of_another(url: str) -> bool:
    """Whether a database is a file that is there, and not for this process to read and write."""
    file = sqlite_file(url)
    return file is not None and file.exists() and not os.access(file, os.R_OK | os.W_OK)


def _look_into(url: str, synchronous: str, *, index: bool) -> str:
    """How a database is, in words; makes none. Raises SQLAlchemyError or OSError where it cannot be written."""
    with _engine(url, synchronous) as engine:
        if engine is None:
            there = (parent for parent in Path(sa.make_url(url).database or "").absolute().parents if parent.exists())
            if not os.access(place := next(there), os.W_OK | os.X_OK):
                raise _UnwritableError(f"{place} cannot be written")
            return "is not there yet; the first start makes it"
        with write(engine) as connection:
            if connection.dialect.name != "sqlite":
                _may_write(connection, index=index)
            if is_full(engine):
                raise _DiskFullError
    return "can be written"


def _may_write(connection: sa.Connection, *, index: bool) -> None:
    """Whether PostgreSQL lets us write the tables that are there, of the store or of the queue.

    It does not let a role that they do not belong to, as where a superuser has restored them. Raises _UnwritableError.
    """
    if connection.scalar(sa.text("SHOW transaction_read_only")) == "on":
        raise _UnwritableError("it is read-only")
    schema, name = (None, repositories.name) if index else (SCHEMA, workflow_table(connection.engine).name)
    if (owner := connection.scalar(_OWNER, {"schema": schema, "name": name})) is not None:
        mend = "Restore them for the role of DATABASE_URL (docs/operations.md, Backup and restore), or be their owner."
        raise _UnwritableError(f"this role may not use the tables there; they belong to {owner}", mend)


def schema(settings: Settings) -> Iterator[Finding]:
    """Whether the store was used by a later release; nothing where it was not, and before the first start.

    The release right before that one works on it. In an earlier one, statements fail with errors that do not say why.
    """
    if _asked(settings, lambda connection: is_later(connection.engine)):
        says = "of a later release than this one, which works on it only if no other release came between the two"
        mend = "Go back to the later release, or restore the backup that was made before it (docs/operations.md)."
        yield Finding(Health.WARNING, "schema", says, mend)


def at_work(settings: Settings) -> Iterator[Finding]:
    """Whether somebody does what is taken, and whether something was given up; nothing before the first start."""
    now = _now(settings)
    if now is None:
        return
    left = sum(count for (queue, _), count in now.jobs.items() if queue == QUEUE)
    if not now.workers:
        mend = "`doppel serve` starts one, or `doppel worker` where web and worker are started apart."
        heard = "none is running"
        if now.heartbeat is not None:
            heard = f"none has been heard of for {now.heartbeat:.0f} s"
            mend += " If one does run, the log says what keeps it from writing, such as a full disk."
        yield Finding(Health.WARNING, "worker", f"{heard}; deliveries to work on: {left}", mend)
    elif now.oldest[QUEUE] > LONGEST_WAIT:
        says = f"behind: a delivery of {now.oldest[QUEUE] / 60:.0f} minutes ago waits; deliveries to work on: {left}"
        yield Finding(Health.WARNING, "worker", says, "The log says what keeps it; see docs/operations.md, Sizing.")
    else:
        yield Finding(Health.WELL, "worker", f"{now.workers} running; deliveries to work on: {left}")
    if waits := now.again[QUEUE]:
        verb = "waits" if waits == 1 else "wait"
        age = now.oldest_again[QUEUE] / 60
        says = (
            f"{counted(waits, 'delivery', 'deliveries')} {verb} for another try; the oldest came {age:.0f} minutes ago"
        )
        yield Finding(Health.WARNING, "failed", says, "The log says why. They are tried again by themselves.")
    if now.dead:
        mend = "`doppel jobs` says why, and `doppel jobs retry --all` tries them again."
        yield Finding(Health.WARNING, "given up", counted(now.dead, "delivery", "deliveries"), mend)


def _now(settings: Settings) -> Standing | None:
    """How the queue stands; None where it is not there yet, or away, of which another line tells."""
    try:
        with _engine(queue_url(settings), settings.sqlite_synchronous) as engine:
            return None if engine is None else standing(engine)
    except (QueueUnavailable, OSError):
        return None


def models_of_others(settings: Settings, model: Embedder | None) -> Iterator[Finding]:
    """Whether workers that are running have other models: then only those find by meaning that have the latest."""
    chosen = _asked(settings, models.in_use) or {}
    if chosen.keys() - {model.name if model else ""}:
        latest = max(chosen, key=lambda name: chosen[name])
        says = f"workers have {' and '.join(sorted(chosen))}; those that have not {latest} find by words alone"
        mend = "Give all the same DOPPEL_EMBEDDING_MODEL and DOPPEL_EMBEDDING_URL, here too, and start them anew."
        yield Finding(Health.WARNING, "models of the workers", says, mend)


def indexes(settings: Settings) -> Iterator[Finding]:
    """What keeps indexes from being whole; nothing where all is well, and before the first start."""
    query = (
        sa.select(repositories.c.owner, repositories.c.name, backfills.c.problem)
        .join(backfills, backfills.c.repo_id == repositories.c.repo_id)
        .where(backfills.c.problem.not_in(("", OFF)))
        .order_by(repositories.c.lookup)
    )
    if found := _asked(settings, lambda connection: connection.execute(query).all()):
        first = found[0]
        says = f"{len(found)} not as they should be, such as that of {first.owner}/{first.name}: {first.problem}"
        yield Finding(Health.WARNING, "indexes", says, "`doppel index` names all. Workers try again by themselves.")


def _asked(settings: Settings, question: Callable[[sa.Connection], _T]) -> _T | None:
    """What the store answers; None where it is not there yet, or away, of which another line tells."""
    try:
        with _engine(settings.database_url, settings.sqlite_synchronous) as engine:
            if engine is None:
                return None
            with engine.connect() as connection:
                return question(connection)
    except (sa.exc.SQLAlchemyError, OSError):
        return None


@contextmanager
def _engine(url: str, synchronous: str) -> Iterator[sa.Engine | None]:
    """An engine that is soon out of patience; None for a file that is not there yet, and would be made."""
    file = sqlite_file(url)
    if file is not None and not file.exists():
        yield None
        return
    engine = make_engine(url, patience=PATIENCE_SECONDS, synchronous=synchronous)
    try:
        yield engine
    finally:
        engine.dispose()
