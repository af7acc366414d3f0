"""The queue's operations: put, claim, renew, finish, fail, expire.

A single statement chooses and claims a job and gives the worker a lease, as River, Oban and Solid Queue do
(docs/design.md). A worker that loses the lease loses the job: the worker's later statements name the lease's token, and
change nothing if the row has a different token.
"""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from bot.deliveries.database import BACKGROUND_QUEUE, DIED, QUEUE, REPLAY_QUEUE, SCHEDULE, WORKERS, jobs, state
from bot.domain.errors import Retryable
from bot.storage.engine import database_time, write
from bot.storage.failures import may_pass
from bot.storage.sqlite import SharedCommit, empty_log

# ruff: noqa: S608 - only constants of this program are inserted into SQL.

# No installation has this id; events without an installation have 0.
NO_INSTALLATION = -1

LEASE = 30.0
"""Seconds for which a lease holds unless it is renewed."""

# Seconds to keep ended jobs. A redelivery of a kept job changes nothing; Enterprise Server redelivers for a week.
KEEP_DONE = 7 * 86_400 + 3_600
KEEP_DEAD = 30 * 86_400

# How many rows one cleaning transaction deletes, and the pause in seconds after each transaction.
_BATCH, _PAUSE = 500, 0.05

# Ten waits of 10 s, 30 s, 90 s, … 6 h take 21 hours together, so a night's outage loses nothing.
# GitHub's "Best practices for using the REST API" ask for growing waits. A fault of ours seldom
# mends itself, so it gets three tries.
MOST_TRIES, MOST_TRIES_OF_A_FAULT = 11, 3
_FIRST_WAIT, _GROWTH, _LONGEST_WAIT = 10.0, 3.0, 6 * 3600.0

QUEUES = (QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE, SCHEDULE)

# Seconds. A job waits for an earlier job of its partition only if that job is due within this time.
HOLD = 300.0

# A job that has killed this many workers is poison and becomes a dead letter. After its second crash a job is suspect
# and is kept apart (`Worker._claim_some`). If a host kills workers often, a limit of three is too low.
POISON = 5

# Seconds. If a stored time is further in the future than this, somebody has set the clock back. _AHEAD is the limit
# for arrivals and leases, _FAR_AHEAD for retries.
_AHEAD, _FAR_AHEAD = 60.0, 8 * 3600.0

# In all SQL below, `Queue` replaces `now()` by the database's clock. Conditions on `state` repeat the partial indexes'
# conditions word for word: otherwise SQLite would not use the indexes.
# DUE: the time to run a job has come, or lies so far ahead that somebody must have set the clock back.
DUE = f"""(job.run_after <= now()
    OR job.attempts = 0 AND job.arrived_at > now() + {_AHEAD}
    OR job.attempts > 0 AND job.run_after > now() + {_FAR_AHEAD})"""

# BLOCKED: another job of the partition is running, or an earlier job of the partition is due within HOLD seconds.
BLOCKED = f"""EXISTS (
    SELECT 1 FROM jobs AS other WHERE other.state IN ('waiting', 'running') AND other.partition = job.partition
    AND (other.state = 'running' OR other.number < job.number AND other.run_after < now() + {HOLD}))"""

# Insert several jobs from one JSON list, and skip known ids. (SQLite's parser needs `WHERE true` before ON CONFLICT.)
PUT_ON_SQLITE = """
INSERT INTO jobs (id, queue, installation, repository, partition, payload, arrived_at, run_after)
SELECT value ->> 'id', value ->> 'queue', value ->> 'installation', value ->> 'repository', value ->> 'partition',
    value ->> 'payload', now(), now() + (value ->> 'delay')
FROM json_each(:entries) WHERE true ON CONFLICT DO NOTHING RETURNING id"""
PUT_ON_POSTGRESQL = """
INSERT INTO jobs (id, queue, installation, repository, partition, payload, arrived_at, run_after)
SELECT id, queue, installation, repository, partition, payload, now(), now() + delay
FROM json_to_recordset(CAST(:entries AS json)) AS entry (
    id text, queue text, installation bigint, repository bigint, partition text, payload text, delay double precision)
ON CONFLICT DO NOTHING RETURNING id"""
CHANNEL = "doppel_jobs"
NOTIFY = f"SELECT pg_notify('{CHANNEL}', '')"

# `waiting` lists the repositories with waiting jobs. It is a loose index scan, with one step for each repository
# (https://wiki.postgresql.org/wiki/Loose_indexscan): a repository with thousands of waiting jobs costs no more than one
# with a single job. `candidates` has each repository's first job that may run, and when the repository was last
# `served` (later than now if somebody has set the clock back). The UPDATE claims the best candidate, and returns
# ClaimedJob's fields in order.
CLAIM = f"""
WITH RECURSIVE waiting (repository) AS (
    SELECT min(repository) FROM jobs WHERE state = 'waiting' AND crashes < 2 AND queue = :queue
    UNION ALL
    SELECT (SELECT min(repository) FROM jobs
            WHERE state = 'waiting' AND crashes < 2 AND queue = :queue AND repository > waiting.repository)
    FROM waiting WHERE repository IS NOT NULL
), candidates AS (
    SELECT (SELECT number FROM jobs AS job
            WHERE state = 'waiting' AND crashes < 2 AND queue = :queue AND repository = waiting.repository
            AND installation <> :without AND {DUE} AND NOT {BLOCKED}
            ORDER BY number LIMIT 1) AS first,
        (SELECT started_at FROM jobs WHERE repository = waiting.repository AND started_at IS NOT NULL
            ORDER BY started_at DESC LIMIT 1) AS served
    FROM waiting WHERE repository IS NOT NULL AND repository NOT IN :limited
)
UPDATE jobs SET state = 'running', lease_token = :token, lease_until = now() + :lease, started_at = now()
WHERE state = 'waiting' AND number = (
    SELECT job.number FROM jobs AS job JOIN candidates ON job.number = first WHERE job.state = 'waiting'
    ORDER BY
        (SELECT count(*) FROM jobs AS busy WHERE busy.state = 'running' AND busy.installation = job.installation),
        CASE WHEN served > now() THEN now() ELSE coalesce(served, 0) END,
        job.number
    LIMIT 1 FOR UPDATE OF job SKIP LOCKED)
RETURNING id, queue, lease_token, installation, repository, payload, attempts, arrived_at, crashes >= 2"""

CLAIM_SUSPECT = CLAIM.replace("crashes < 2", "crashes >= 2")

# DUE_QUEUES tells for each queue whether a job that is not suspect is due, then for each queue whether a suspect job is
# due and not BLOCKED. If a blocked suspect delivery counted, workers would claim nothing until the delivery can run.
IS_DUE = f"SELECT 1 FROM jobs AS job WHERE state = 'waiting' AND queue = '%s' AND {DUE}"
DUE_QUEUES = "SELECT " + ", ".join(
    f"EXISTS ({IS_DUE % queue}{which})"
    for which in (" AND crashes < 2", f" AND crashes >= 2 AND NOT {BLOCKED}")
    for queue in QUEUES
)  # fmt: skip

RENEW = """
UPDATE jobs SET lease_until = now() + :lease
WHERE state = 'running' AND lease_token IN :tokens RETURNING lease_token"""

# A lease has expired if its end is past, or so far ahead that somebody must have set the clock back.
# Workers have rows with leases, too (`register`). The row of a dead worker is deleted.
EXPIRED = f"state = 'running' AND (lease_until < now() OR lease_until > now() + :lease + {_AHEAD})"
EXPIRE_WORKERS = f"DELETE FROM jobs WHERE {EXPIRED} AND queue = '{WORKERS}'"
EXPIRE = f"""
UPDATE jobs SET state = CASE WHEN crashes + 1 < {POISON} THEN 'waiting' ELSE 'dead' END,
    last_error = CASE WHEN crashes + 1 < {POISON} THEN last_error ELSE '{DIED}' END,
    done_at = CASE WHEN crashes + 1 < {POISON} THEN NULL ELSE now() END,
    crashes = crashes + 1, lease_token = NULL, lease_until = NULL
WHERE {EXPIRED} AND queue <> '{WORKERS}' RETURNING id, state"""

# END takes effect only if the job still has the claim's token. `%s` stands for the columns to set.
END = """
UPDATE jobs SET %s, lease_token = NULL, lease_until = NULL
WHERE id = :id AND lease_token = :token AND state = 'running'"""
RETRY = "state = 'waiting', crashes = 0, run_after = now() + :wait"

# LIKE finds `opened` deliveries by the first keys of their payload (`to_json`).
POSTPONE = f"""
UPDATE jobs SET run_after = now() + :wait
WHERE state = 'waiting' AND crashes < 2 AND queue = '{QUEUE}' AND repository = :repository
AND run_after < now() + :wait AND payload LIKE '{{"kind":"issue","action":"opened"%'"""

CLEAN = """
DELETE FROM jobs WHERE number IN (
    SELECT number FROM jobs WHERE state IN ('done', 'dead') AND state = :ended
    AND (done_at < now() - :keep OR done_at > now() + :keep) LIMIT :batch)"""


def decide(error: Exception, failures: int, chance: float) -> float | None:
    """Seconds until the next try after so many `failures`; None to give up. `chance` in [0, 1) spreads the waits."""
    is_fault = not (isinstance(error, Retryable) or may_pass(error))
    if failures >= (MOST_TRIES_OF_A_FAULT if is_fault else MOST_TRIES):
        return None
    wait = min(_LONGEST_WAIT, _FIRST_WAIT * _GROWTH ** (failures - 1))
    if isinstance(error, Retryable) and error.after is not None:
        wait = max(wait, error.after)
    # The spread only lengthens the wait, because the wait that GitHub asks for is a minimum.
    return wait * (1 + 0.1 * chance)


class NewJob(NamedTuple):
    """A job to put into the queue. `delay` is in seconds."""

    id: str
    queue: str
    installation: int
    repository: int
    partition: str
    payload: str
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job leased under this `token`. `attempts` counts earlier errors; a `suspect` killed two or more workers."""

    id: str
    queue: str
    token: str
    installation: int
    repository: int
    payload: str
    attempts: int
    arrived: float
    suspect: bool


Ids = Collection[int]


class Queue:
    """The queue on one database. Thread safe. Each operation raises SQLAlchemy's errors."""

    def __init__(self, engine: sa.Engine, now: str | None = None, worker: str = "") -> None:
        """`now`: SQL for the seconds since 1970 (default: the database's clock). `worker`: the claimer's name."""
        self.engine, self._worker = engine, worker
        self._clock = now or str(database_time(engine))
        self._texts: dict[str, sa.TextClause] = {}
        self._ends = SharedCommit(self._end_all, patience=None)  # On SQLite, ends of jobs share a commit.
        self._is_sqlite = engine.dialect.name == "sqlite"
        self.now = sa.literal_column(self._clock, sa.Float())

    def put(self, entries: Sequence[NewJob]) -> list[bool]:
        """Commit several jobs together; returns for each whether it is new. A job with a known id changes nothing."""
        if not entries:
            return []
        statement = PUT_ON_SQLITE if self._is_sqlite else PUT_ON_POSTGRESQL
        rows = json.dumps([entry._asdict() for entry in entries])
        with write(self.engine) as connection:
            new = {id for (id,) in self._run(connection, statement, entries=rows)}
            if new and not self._is_sqlite:
                self._run(connection, NOTIFY)
        # Of entries with the same id, only the first is new. In reverse, it overwrites the rest.
        first = {entry.id: position for position, entry in reversed([*enumerate(entries)])}
        return [entry.id in new and first[entry.id] == position for position, entry in enumerate(entries)]

    def register(self, worker: str) -> None:
        """Add the row of a live worker. The token of the row's lease is the worker's name."""
        id, now = f"{WORKERS}:{worker}", self.now
        row = {"id": id, "queue": WORKERS, "installation": 0, "repository": 0, "partition": id, "state": "running"}
        times = {"run_after": now, "arrived_at": now, "lease_until": now + LEASE}
        with write(self.engine) as connection:
            connection.execute(sa.insert(jobs).values(**row, **times, lease_token=worker))

    def unregister(self, worker: str) -> None:
        self._change(f"DELETE FROM jobs WHERE queue = '{WORKERS}' AND lease_token = :worker", worker=worker)

    def due(self) -> tuple[set[str], set[str]]:
        """The queues with due jobs that are not suspect, and the queues with suspect jobs that can be claimed."""
        with self.engine.connect() as connection:
            found = self._run(connection, DUE_QUEUES).one()
        due, suspects = found[: len(QUEUES)], found[len(QUEUES) :]
        return set(itertools.compress(QUEUES, due)), set(itertools.compress(QUEUES, suspects))

    def claim(
        self, queue: str, most: int = 1, *, suspects: bool = False, without: int = NO_INSTALLATION, limited: Ids = ()
    ) -> list[ClaimedJob]:
        """Claim up to `most` jobs of a queue. Leaves out the installation `without` and the repositories in `limited`.

        The installation with the fewest running jobs comes first, then the repository that was served longest ago. A
        partition's jobs run in order, one at a time. `suspects` claims only suspect jobs.
        """
        statement, claims = CLAIM_SUSPECT if suspects else CLAIM, list[ClaimedJob]()
        which = {"queue": queue, "without": without, "limited": [*limited]}
        try:
            with write(self.engine) as connection:
                while len(claims) < most:
                    token = f"{self._worker}:{secrets.token_hex(8)}"
                    row = self._run(connection, statement, **which, token=token).one_or_none()
                    if row is None:
                        break
                    claims.append(ClaimedJob(*row))
        except sa.exc.IntegrityError:
            # Another worker has just claimed a job of the same partition, so this transaction is undone.
            return []
        return claims

    def renew(self, tokens: Collection[str]) -> set[str]:
        """Renew these leases; returns the tokens of the leases that still held."""
        with write(self.engine) as connection:
            return set(self._run(connection, RENEW, tokens=[*tokens]).scalars())

    def expire(self) -> dict[str, bool]:
        """Take back jobs whose leases have expired. Returns their ids, with True for each that is now a dead letter."""
        with write(self.engine) as connection:
            self._run(connection, EXPIRE_WORKERS)
            return {id: new_state == "dead" for id, new_state in self._run(connection, EXPIRE)}

    def finish(self, claim: ClaimedJob) -> bool:
        """Mark the job as done and erase its payload. Returns whether the claim still held."""
        return self._end(claim, "state = 'done', payload = '', done_at = now()")

    def fail(self, claim: ClaimedJob, error: str, wait: float | None) -> bool:
        """Try the job again in `wait` seconds; None gives the job up. Returns whether the claim still held."""
        becomes = "state = 'dead', done_at = now()" if wait is None else RETRY
        failed = {"attempts": claim.attempts + 1, "error": error} | ({} if wait is None else {"wait": wait})
        return self._end(claim, f"{becomes}, attempts = :attempts, last_error = :error", **failed)

    def postpone(self, repository: int, wait: float) -> int:
        """Let a repository's `opened` deliveries wait after a job met GitHub's rate limit. Returns how many.

        Other jobs, such as commands, are fewer and send fewer requests, so none of them is postponed.
        """
        return self._change(POSTPONE, repository=repository, wait=wait)

    def release(self, claim: ClaimedJob) -> bool:
        """Let the job wait again, without counting a try. Returns whether the claim still held."""
        return self._end(claim, "state = 'waiting'")

    def reschedule(self, claim: ClaimedJob, wait: float) -> bool:
        """Schedule the job's next run in `wait` seconds. Returns whether the claim still held."""
        return self._end(claim, RETRY, wait=wait)

    def clean(self) -> None:
        """Delete jobs that ended long ago, in batches, so that other writers need not wait long for the lock."""
        for ended, keep in (("done", KEEP_DONE), ("dead", KEEP_DEAD)):
            while self._change(CLEAN, ended=ended, keep=keep) == _BATCH:
                time.sleep(_PAUSE)
        empty_log(self.engine)  # SQLite's log keeps deleted text.

    def _end(self, claim: ClaimedJob, values: str, **parameters: Any) -> bool:
        end = (END % values, {"id": claim.id, "token": claim.token, **parameters})
        return self._ends.write(end) if self._is_sqlite else self._end_all([end])[0]

    def _end_all(self, ends: Sequence[tuple[str, dict[str, Any]]]) -> list[bool]:
        with write(self.engine) as connection:
            return [self._run(connection, statement, **parameters).rowcount > 0 for statement, parameters in ends]

    def _change(self, statement: str, **parameters: Any) -> int:
        with write(self.engine) as connection:
            return self._run(connection, statement, **parameters).rowcount

    def _run(self, connection: sa.Connection, statement: str, **parameters: Any) -> sa.CursorResult[*tuple[Any, ...]]:
        if (text := self._texts.get(statement)) is None:
            sql = statement.replace("FOR UPDATE OF job SKIP LOCKED", "") if self._is_sqlite else statement
            text = sa.text(sql.replace("now()", self._clock))
            lists = (name for name in ("tokens", "limited") if f":{name}" in statement)
            text = self._texts[statement] = text.bindparams(*(sa.bindparam(name, expanding=True) for name in lists))
        # Parameters that the statement does not name are ignored.
        return connection.execute(text, {"lease": LEASE, "batch": _BATCH, **parameters})


# Seconds. If a task's next run is more than `every` + _SLACK away, somebody has set the clock back.
_SLACK = 60.0


@dataclass(frozen=True, slots=True)
class ScheduledTask:
    """At each multiple of `every` seconds since 1970, one of the workers calls `run` and logs its errors.

    With `at_start` the task also runs when a worker starts. `late` delays each run by this many seconds, so that other
    tasks come first.
    """

    name: str
    every: float
    run: Callable[[], None]
    at_start: bool = False
    late: float = 0.0

    @property
    def id(self) -> str:
        """The id of the task's row in the queue."""
        return f"{SCHEDULE}:{self.name}"

    def wait(self, now: float) -> float:
        """Seconds until the next run, from `now` in seconds since 1970."""
        return self.every - (now - self.late) % self.every


class Schedule:
    """The scheduled tasks of one worker. Each task is a row of the queue, so that only one worker claims each run."""

    def __init__(self, queue: Queue, tasks: Iterable[ScheduledTask]) -> None:
        self._queue = queue
        self.tasks = {task.id: task for task in tasks}

    def reschedule(self, claim: ClaimedJob, task: ScheduledTask) -> bool:
        """End this run, whatever its outcome, and schedule the next. Returns whether the claim still held."""
        with self._queue.engine.connect() as connection:
            now = connection.execute(sa.select(self._queue.now)).scalar_one()
        return self._queue.reschedule(claim, task.wait(now))

    def repair(self, *, starting: bool = False) -> None:
        """Make a stuck task due: after somebody set the clock back, or `every` seconds after a run was given up.

        When a worker is `starting`, also add missing tasks, which are due at once, and make the `at_start` tasks due.
        """
        if starting:
            self._queue.put([NewJob(id, SCHEDULE, 0, 0, id, "") for id in self.tasks])
        c, now = jobs.c, self._queue.now
        with write(self._queue.engine) as connection:
            for task in self.tasks.values():
                to_hasten = sa.true() if starting and task.at_start else c.run_after > now + task.every + _SLACK
                given_up = sa.and_(state("dead"), c.done_at < now - task.every)
                update = sa.update(jobs).where(c.id == task.id, sa.or_(sa.and_(state("waiting"), to_hasten), given_up))
                connection.execute(update.values(state="waiting", run_after=now, done_at=None))
