"""The queue's SQL, in the pattern of River, Oban and Solid Queue (docs/design.md).

`bot.jobs.queue` replaces `now()` by the database's clock. Conditions on `state` repeat those of the partial indexes,
word for word: SQLite uses such an index for no other condition.
"""

# ruff: noqa: S608 - only constants of this program are inserted.

from __future__ import annotations

from bot.jobs.database import BACKGROUND_QUEUE, QUEUE, REPLAY_QUEUE, SCHEDULE, WORKERS
from bot.jobs.retry import DIED

QUEUES = (QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE, SCHEDULE)

HOLD = 300.0
"""Seconds. A job waits for an earlier one of its partition that is due within this time. A command given a minute after
one that hit a rate limit must not overtake it; one given during an outage should not wait for hours."""

DEADLY = 5
"""A job is given up after it has lost so many workers. From the second on it is suspect, and runs alone. With three,
innocent jobs were given up where workers were killed every few seconds."""

# Seconds. An arrival or a lease further ahead than the first, or a retry further ahead than the second, was stamped
# by a clock that has been set back since.
_AHEAD, _FAR_AHEAD = 60.0, 8 * 3600.0

DUE = f"""(job.run_after <= now()
    OR job.attempts = 0 AND job.arrived_at > now() + {_AHEAD}
    OR job.attempts > 0 AND job.run_after > now() + {_FAR_AHEAD})"""

# A job of the same partition runs, or an earlier one is due soon.
BLOCKED = f"""EXISTS (
    SELECT 1 FROM jobs AS other WHERE other.state IN ('waiting', 'running') AND other.partition = job.partition
    AND (other.state = 'running' OR other.number < job.number AND other.run_after < now() + {HOLD}))"""

# Takes several jobs as one JSON text, and leaves out those that are known.
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

# Each repository's first job that may run is a candidate. A loose index scan finds the repositories, one step each
# (https://wiki.postgresql.org/wiki/Loose_indexscan): thousands of waiting jobs of one cost no more than one job does.
# A clock that ran ahead may have stamped a repository as served later than now.
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
            AND installation <> :but AND {DUE} AND NOT {BLOCKED}
            ORDER BY number LIMIT 1) AS first,
        (SELECT started_at FROM jobs WHERE repository = waiting.repository AND started_at IS NOT NULL
            ORDER BY started_at DESC LIMIT 1) AS served
    FROM waiting WHERE repository IS NOT NULL
)
UPDATE jobs SET state = 'running', lease_token = :token, lease_until = now() + :lease, started_at = now()
WHERE state = 'waiting' AND number = (
    SELECT job.number FROM jobs AS job JOIN candidates ON job.number = first WHERE job.state = 'waiting'
    ORDER BY
        (SELECT count(*) FROM jobs AS busy WHERE busy.state = 'running' AND busy.installation = job.installation),
        CASE WHEN served > now() THEN now() ELSE coalesce(served, 0) END,
        job.number
    LIMIT 1 FOR UPDATE OF job SKIP LOCKED)
RETURNING id, queue, lease_token, installation, payload, attempts, arrived_at, crashes >= 2"""

# The same of suspects.
CLAIM_ALONE = CLAIM.replace("crashes < 2", "crashes >= 2")

IS_DUE = f"SELECT 1 FROM jobs AS job WHERE state = 'waiting' AND queue = '%s' AND {DUE}"
LOOK = "SELECT " + ", ".join(
    f"EXISTS ({IS_DUE % queue}{which})"
    for which in (" AND crashes < 2", f" AND crashes >= 2 AND NOT {BLOCKED}")
    for queue in QUEUES
)  # fmt: skip

RENEW = """
UPDATE jobs SET lease_until = now() + :lease
WHERE state = 'running' AND lease_token IN :tokens RETURNING lease_token"""

LOST = f"state = 'running' AND (lease_until < now() OR lease_until > now() + :lease + {_AHEAD})"
LEAVE = f"DELETE FROM jobs WHERE queue = '{WORKERS}' AND lease_token = :worker"
EXPIRE_WORKERS = f"DELETE FROM jobs WHERE {LOST} AND queue = '{WORKERS}'"
EXPIRE = f"""
UPDATE jobs SET state = CASE WHEN crashes + 1 < {DEADLY} THEN 'waiting' ELSE 'dead' END,
    last_error = CASE WHEN crashes + 1 < {DEADLY} THEN last_error ELSE '{DIED}' END,
    done_at = CASE WHEN crashes + 1 < {DEADLY} THEN NULL ELSE now() END,
    crashes = crashes + 1, lease_token = NULL, lease_until = NULL
WHERE {LOST} AND queue <> '{WORKERS}' RETURNING id, state"""

END = """
UPDATE jobs SET %s, lease_token = NULL, lease_until = NULL
WHERE id = :id AND lease_token = :token AND state = 'running'"""
AGAIN = "state = 'waiting', crashes = 0, run_after = now() + :wait"

CLEAN = """
DELETE FROM jobs WHERE number IN (
    SELECT number FROM jobs WHERE state IN ('done', 'dead') AND state = :ended
    AND (done_at < now() - :keep OR done_at > now() + :keep) LIMIT :batch)"""
