"""The queue's statements, one claim among them, as River, Oban and Solid Queue have it (docs/design.md).

`now()` is replaced by the clock of the queue's database (`bot.jobs.queue`). Conditions on `state` are written as in the
partial indexes that serve them: SQLite uses an index for no other.
"""

# ruff: noqa: S608 - what is put in between is of this file.

from __future__ import annotations

from bot.jobs.database import BACKGROUND_QUEUE, QUEUE, REPLAY_QUEUE, SCHEDULE, WORKERS
from bot.jobs.retry import DIED

QUEUES = (QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE, SCHEDULE)

HOLD = 300.0
"""Seconds. Later jobs of a partition wait for an earlier one that is due within this time. A command given a minute
after one that hit a rate limit must not overtake it; one given during an outage should not wait for hours."""

DEADLY = 5
"""A job whose worker died so often is given up. From the second time on it is suspected, and claimed alone. With three,
innocent jobs were given up where workers were killed every few seconds."""

# Seconds. What is stamped further ahead than that was so by a clock that has been set back since: an arrival or a
# lease, and a time for another try.
_AHEAD, _FAR_AHEAD = 60.0, 8 * 3600.0

DUE = f"""(job.run_after <= now()
    OR job.attempts = 0 AND job.arrived_at > now() + {_AHEAD}
    OR job.attempts > 0 AND job.run_after > now() + {_FAR_AHEAD})"""

# A job of the same partition runs, or an earlier one is due soon.
BLOCKED = f"""EXISTS (
    SELECT 1 FROM jobs AS other WHERE other.state IN ('waiting', 'running') AND other.partition = job.partition
    AND (other.state = 'running' OR other.number < job.number AND other.run_after < now() + {HOLD}))"""

# Several at once, as one JSON text: what is known already is left out.
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

# The next job is of the installation with the fewest running, and of the repository served longest ago; of each the
# first that may run is a candidate. The repositories are found by a loose scan of an index, one step each
# (https://wiki.postgresql.org/wiki/Loose_indexscan): thousands of waiting jobs of one cost no more than one does.
# A repository that was served later than now was so by a clock that ran ahead.
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
