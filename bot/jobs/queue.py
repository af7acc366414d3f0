"""The queue's operations: put, claim, renew, finish, fail, expire.

One statement chooses and claims a job (`bot.jobs.statements`) and gives its worker a lease. A worker that loses the
lease loses the job: every later statement names the lease's token, and changes nothing where the row has another.
"""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from bot.jobs import statements
from bot.jobs.database import WORKERS, jobs
from bot.jobs.statements import QUEUES
from bot.store.database.engine import database_time, write
from bot.store.database.shared_commit import SharedCommit
from bot.store.database.sqlite import empty_log

NOBODY = -1
"""An installation that does not exist; events without one have 0."""

LEASE = 30.0
"""Seconds for which a lease holds unless it is renewed."""

# Seconds. GitHub redelivers for three days (Enterprise Server: seven), and a redelivery must change nothing.
KEEP_DONE = 7 * 86_400 + 3_600
KEEP_DEAD = 30 * 86_400

# Rows that one transaction of cleaning deletes, and the pause after it in seconds.
_BATCH, _PAUSE = 500, 0.05


class Entry(NamedTuple):
    """A job to put into the queue. `delay` is in seconds."""

    id: str
    queue: str
    installation: int
    repository: int
    partition: str
    payload: str
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that a worker has claimed. `attempts` counts the earlier runs that raised."""

    id: str
    queue: str
    token: str
    installation: int
    payload: str
    attempts: int
    arrived: float
    suspect: bool


class Queue:
    """The queue on one database. Thread safe. Each operation raises what SQLAlchemy raises."""

    def __init__(self, engine: sa.Engine, now: str | None = None) -> None:
        """`now` is the time in seconds since 1970 as an SQL expression; by default the database's clock."""
        self.engine = engine
        self._clock = now or str(database_time(engine))
        self._texts: dict[str, sa.TextClause] = {}
        self._ends = SharedCommit(self._end_all, None)
        self._is_sqlite = engine.dialect.name == "sqlite"
        self.now = sa.literal_column(self._clock, sa.Float())

    def put(self, entries: Sequence[Entry]) -> list[bool]:
        """Commit some jobs together; whether each is new. A known id changes nothing."""
        if not entries:
            return []
        statement = statements.PUT_ON_SQLITE if self._is_sqlite else statements.PUT_ON_POSTGRESQL
        with write(self.engine) as connection:
            rows = json.dumps([entry._asdict() for entry in entries])
            new = {id for (id,) in self._run(connection, statement, entries=rows)}
            if new and not self._is_sqlite:
                self._run(connection, statements.NOTIFY)
        first = {entry.id: number for number, entry in reversed([*enumerate(entries)])}
        return [entry.id in new and first[entry.id] == number for number, entry in enumerate(entries)]

    def enter(self, worker: str) -> None:
        """Register a worker. `renew` takes its name as the token of its lease."""
        row = {"id": f"{WORKERS}:{worker}", "queue": WORKERS, "partition": f"{WORKERS}:{worker}", "state": "running"}
        nothing = {"installation": 0, "repository": 0, "run_after": self.now, "arrived_at": self.now}
        with write(self.engine) as connection:
            lease = {"lease_token": worker, "lease_until": self.now + LEASE}
            connection.execute(sa.insert(jobs).values(**row, **nothing, **lease))

    def leave(self, worker: str) -> None:
        """Remove a worker that ends."""
        self._change(statements.LEAVE, worker=worker)

    def due(self) -> tuple[set[str], set[str]]:
        """The queues with due jobs that are not suspect, and the queues with suspect jobs that can be claimed."""
        with self.engine.connect() as connection:
            found = self._run(connection, statements.LOOK).one()
        half = len(QUEUES)
        return set(itertools.compress(QUEUES, found[:half])), set(itertools.compress(QUEUES, found[half:]))

    def claim(
        self, queue: str, most: int = 1, *, alone: bool = False, but: int = NOBODY, worker: str = ""
    ) -> list[Claim]:
        """Claim up to `most` jobs of a queue for `worker`: first the installation with the fewest running jobs, then
        the repository served longest ago.

        Jobs of a partition come in order, one at a time. `alone` claims suspect jobs and no others. The installation
        `but` is left out.
        """
        statement, claims = statements.CLAIM_ALONE if alone else statements.CLAIM, list[Claim]()
        try:
            with write(self.engine) as connection:
                while len(claims) < most:
                    token = f"{worker}:{secrets.token_hex(8)}"
                    row = self._run(connection, statement, queue=queue, but=but, token=token).one_or_none()
                    if row is None:
                        break
                    claims.append(Claim(*row))
        except sa.exc.IntegrityError:
            # Another worker has just claimed one of the same partition.
            return []
        return claims

    def renew(self, tokens: Collection[str]) -> set[str]:
        """Renew some leases; returns those that still hold."""
        with write(self.engine) as connection:
            return set(self._run(connection, statements.RENEW, tokens=[*tokens]).scalars())

    def expire(self) -> dict[str, bool]:
        """Take back the jobs whose leases have run out: by id, whether each is given up. The others wait again."""
        with write(self.engine) as connection:
            self._run(connection, statements.EXPIRE_WORKERS)
            return {id: state == "dead" for id, state in self._run(connection, statements.EXPIRE)}

    def finish(self, claim: Claim) -> bool:
        """Mark the job as done and erase its payload. Whether the claim still held."""
        return self._end(claim, "state = 'done', payload = '', done_at = now()")

    def fail(self, claim: Claim, error: str, wait: float | None) -> bool:
        """Try the job again in `wait` seconds; None gives it up. Whether the claim still held."""
        becomes = "state = 'dead', done_at = now()" if wait is None else statements.AGAIN
        failed = {"attempts": claim.attempts + 1, "error": error} | ({} if wait is None else {"wait": wait})
        return self._end(claim, f"{becomes}, attempts = :attempts, last_error = :error", **failed)

    def release(self, claim: Claim) -> bool:
        """Let the job wait again as if it had never been claimed. Whether the claim still held."""
        return self._end(claim, "state = 'waiting'")

    def again(self, claim: Claim, wait: float) -> bool:
        """Schedule the job's next run in `wait` seconds. Whether the claim still held."""
        return self._end(claim, statements.AGAIN, wait=wait)

    def clean(self) -> None:
        """Delete what ended long ago, in batches, so that nobody waits long for the lock."""
        for ended, keep in (("done", KEEP_DONE), ("dead", KEEP_DEAD)):
            while self._change(statements.CLEAN, ended=ended, keep=keep) == _BATCH:
                time.sleep(_PAUSE)
        empty_log(self.engine)

    def _end(self, claim: Claim, values: str, **given: Any) -> bool:
        end = (statements.END % values, {"id": claim.id, "token": claim.token, **given})
        return self._ends.write(end) if self._is_sqlite else self._end_all([end])[0]

    def _end_all(self, ends: Sequence[tuple[str, dict[str, Any]]]) -> list[bool]:
        with write(self.engine) as connection:
            return [self._run(connection, statement, **given).rowcount > 0 for statement, given in ends]

    def _change(self, statement: str, **given: Any) -> int:
        with write(self.engine) as connection:
            return self._run(connection, statement, **given).rowcount

    def _run(self, connection: sa.Connection, statement: str, **given: Any) -> sa.CursorResult[*tuple[Any, ...]]:
        if (text := self._texts.get(statement)) is None:
            here = statement.replace("FOR UPDATE OF job SKIP LOCKED", "") if self._is_sqlite else statement
            text = sa.text(here.replace("now()", self._clock))
            text = text.bindparams(sa.bindparam("tokens", expanding=True)) if ":tokens" in statement else text
            self._texts[statement] = text
        # A statement takes only the values that it names.
        return connection.execute(text, {"lease": LEASE, "batch": _BATCH, **given})
