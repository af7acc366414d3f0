"""Checks of the databases, the workers and the indexes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

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
from bot.storage.repositories import OFF
from bot.storage.schema import backfills, repositories
from bot.storage.sqlite import is_full

_T = TypeVar("_T")

# Seconds. The doctor warns if a delivery waits longer; the alarm in docs/watching.md has the same limit.
LONGEST_WAIT = 300.0
# How long another process may lock the database before the doctor calls the database unusable.
PATIENCE_SECONDS = 5.0

# The owner of a PostgreSQL table, if this role may not insert into it. Reads the catalogue, because a query that names
# the table fails if this role may not use its schema.
_OWNER = sa.text(
    "SELECT pg_get_userbyid(relowner) FROM pg_class JOIN pg_namespace AS place ON place.oid = relnamespace"
    " WHERE nspname = current_schema() AND relname = :name"
    " AND NOT (has_schema_privilege(place.oid, 'USAGE') AND has_table_privilege(pg_class.oid, 'INSERT'))"
)


_MEND = "Check DATABASE_URL, or that DOPPEL_HOME can be written."


class _UnwritableError(Exception):
    """A database or its folder cannot be written. The arguments are the reason, and how to mend it."""


def writable(settings: Settings) -> Iterator[Finding]:
    """Whether the store and the queue can be written. Creates neither."""
    places = (("database", settings.database_url, repositories), ("queue", queue_url(settings), jobs))
    for subject, url, table in places:
        says, mend = "", _MEND
        try:
            yield well(subject, f"{redacted(url)} {_look_into(url, settings, table.name)}")
        except _UnwritableError as problem:
            says, mend = problem.args
        except PermissionError as refused:
            says, mend = f"cannot be used ({why(refused)})", "Run as the user that owns it."
        except (sa.exc.SQLAlchemyError, OSError) as problem:
            says, file = f"cannot be used ({why(problem)})", sqlite_file(url)
            if file is not None and file.exists() and not os.access(file, os.R_OK | os.W_OK):
                # SQLite's own message does not mention permissions.
                mend = "Run as the user that owns it, or let this one read and write it."
        if says:
            yield broken(subject, f"{redacted(url)} {says}", mend)


def _look_into(url: str, settings: Settings, table: str) -> str:
    """The state of a database, in words. Does not create a missing database. Raises if it cannot be written.

    In PostgreSQL a role may not write another owner's tables, for example if a superuser restored them.
    """
    with _engine(url, settings) as engine:
        if engine is None:
            existing = (
                parent for parent in Path(sa.make_url(url).database or "").absolute().parents if parent.exists()
            )
            if not os.access(place := next(existing), os.W_OK | os.X_OK):
                raise _UnwritableError(f"cannot be used ({place} cannot be written)", _MEND)
            return "is not there yet; the first start makes it"
        with write(engine) as connection:
            if engine.dialect.name != "sqlite":
                if connection.scalar(sa.text("SHOW transaction_read_only")) == "on":
                    raise _UnwritableError("cannot be used (it is read-only)", _MEND)
                if (owner := connection.scalar(_OWNER, {"name": table})) is not None:
                    raise _UnwritableError(
                        f"cannot be used (this role may not use the tables there; they belong to {owner})",
                        "Restore them for the role of DATABASE_URL (docs/operations.md, Backup and restore), or be "
                        "their owner.",
                    )
            if is_full(engine):
                mend = "Make room; Doppel need not be started anew. What waits is worked on then."
                raise _UnwritableError("cannot be written: its disk is full", mend)
    return "can be written"


def schema(settings: Settings) -> Iterator[Finding]:
    """A warning if a later release has used the store: only the release just before that one still works with it."""
    if _asked(settings, lambda connection: is_later(connection.engine)):
        says = "of a later release than this one, which works on it only if no other release came between the two"
        mend = "Go back to the later release, or restore the backup that was made before it (docs/operations.md)."
        yield warning("schema", says, mend)


def at_work(settings: Settings) -> Iterator[Finding]:
    """Whether workers run and keep up, and whether the queue gave up deliveries. No finding before the first start."""
    try:
        with _engine(queue_url(settings), settings) as engine:
            now = None if engine is None else read_queue_state(engine)
    except (QueueUnavailable, OSError):
        # `writable` reports the failure.
        now = None
    if now is None:
        return
    waiting = sum(count for (queue, _), count in now.jobs.items() if queue == QUEUE)
    to_do = f"deliveries to work on: {waiting}"
    if not now.workers:
        mend = "`doppel serve` starts one, or `doppel worker` where web and worker are started apart."
        heard = "none is running"
        if now.heartbeat is not None:
            heard = f"none has been heard of for {now.heartbeat:.0f} s"
            mend += " If one does run, the log says what keeps it from writing, such as a full disk."
        yield warning("worker", f"{heard}; {to_do}", mend)
    elif now.ages[QUEUE, "waiting"] > LONGEST_WAIT:
        says = f"behind: a delivery of {now.ages[QUEUE, 'waiting'] / 60:.0f} minutes ago waits; {to_do}"
        yield warning("worker", says, "The log says what keeps it; see docs/operations.md, Sizing.")
    else:
        yield well("worker", f"{now.workers} running; {to_do}")
    if waits := now.jobs[QUEUE, "again"]:
        many, age = counted(waits, "delivery", "deliveries"), now.ages[QUEUE, "again"] / 60
        says = f"{many} {'waits' if waits == 1 else 'wait'} for another try; the oldest came {age:.0f} minutes ago"
        yield warning("failed", says, "The log says why. They are tried again by themselves.")
    if now.dead:
        mend = "`doppel jobs` says why, and `doppel jobs retry --all` tries them again."
        yield warning("given up", counted(now.dead, "delivery", "deliveries"), mend)


def indexes(settings: Settings) -> Iterator[Finding]:
    """Why indexes are incomplete. No finding if all are complete, or before the first start."""
    query = (
        sa.select(repositories.c.owner, repositories.c.name, backfills.c.problem)
        .join(backfills, backfills.c.repo_id == repositories.c.repo_id)
        .where(backfills.c.problem.not_in(("", OFF)))
        .order_by(repositories.c.lookup)
    )
    if incomplete := _asked(settings, lambda connection: connection.execute(query).all()):
        first = incomplete[0]
        says = f"{len(incomplete)} not as they should be, such as that of {first.owner}/{first.name}: {first.problem}"
        yield warning("indexes", says, "`doppel index` names all. Workers try again by themselves.")


def _asked(settings: Settings, question: Callable[[sa.Connection], _T]) -> _T | None:
    """The store's answer; None if the store does not exist yet or does not answer (`writable` reports that)."""
    try:
        with _engine(settings.database_url, settings) as engine:
            if engine is None:
                return None
            with engine.connect() as connection:
                return question(connection)
    except (sa.exc.SQLAlchemyError, OSError):
        return None


@contextmanager
def _engine(url: str, settings: Settings) -> Iterator[sa.Engine | None]:
    """An engine with a short time-out; None if the SQLite file does not exist, since connecting would create it."""
    file = sqlite_file(url)
    if file is not None and not file.exists():
        yield None
        return
    engine = make_engine(url, patience=PATIENCE_SECONDS, synchronous=settings.sqlite_synchronous)
    try:
        yield engine
    finally:
        engine.dispose()
