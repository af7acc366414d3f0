"""What an earlier version's queue still holds, in DBOS's tables, becomes jobs of ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from bot.events import InstallationEvent, from_json
from bot.jobs.retry import DIED

_SCHEMA = "dbos"
_WAITS = ("ENQUEUED", "DELAYED", "PENDING")
_DEAD = ("ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
# Tables of ours that stood beside theirs.
_BESIDE = ("queue_executors", "queue_trials")


def carry_over(connection: sa.Connection, jobs: sa.Table, queue_of: Callable[[str], str]) -> None:
    """Put into `jobs` what waits or was given up in DBOS's tables, and drop these. Part of the caller's transaction.

    Of what is done the ids are kept, so that a redelivery changes nothing.
    """
    schema = None if connection.dialect.name == "sqlite" else _SCHEMA
    if not sa.inspect(connection).has_table("workflow_status", schema=schema):
        return
    old = sa.MetaData()
    run, given, told = (
        sa.Table(f"workflow_{name}", old, autoload_with=connection, schema=schema)
        for name in ("status", "input", "output")
    )
    rows = connection.execute(
        sa.select(run, given.c.inputs.label("given"), told.c.error.label("told"))
        .outerjoin_from(run, given, run.c.workflow_uuid == given.c.workflow_uuid)
        .outerjoin(told, run.c.workflow_uuid == told.c.workflow_uuid)
        .where(run.c.name == "job")
        .order_by(run.c.created_at)
    )
    # A delivery's later runs are workflows of their own, `ID~2` and so on; the last says how it stands.
    latest = dict[str, tuple[int, Any]]()
    for row in rows:
        delivery, _, number = row.workflow_uuid.partition("~")
        latest[delivery] = max(latest.get(delivery, (0, row)), (int(number or 1), row), key=lambda one: one[0])
    if latest:
        connection.execute(sa.insert(jobs), [_job(delivery, row, queue_of) for delivery, (_, row) in latest.items()])
    if schema:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    for name in sa.inspect(connection).get_table_names():
        if name in _BESIDE or (schema is None and name != jobs.name):
            connection.exec_driver_sql(f'DROP TABLE "{name}"')


def _job(delivery: str, row: Any, queue_of: Callable[[str], str]) -> dict[str, Any]:
    """A row of `jobs`. What cannot be read is done: nobody could do it."""
    try:
        _, _, failures, _, partition, text = json.loads(row.given)["positionalArgs"]
        event = from_json(text)
        state = "waiting" if row.status in _WAITS else "dead" if row.status in _DEAD else "done"
    except (ValueError, LookupError, TypeError, AttributeError):
        failures, partition, text, event, state = 0, delivery, "", None, "done"
    arrived = row.created_at / 1000
    return {
        "id": delivery,
        "queue": queue_of(partition),
        "installation": (event and event.installation) or 0,
        "repository": 0 if event is None or isinstance(event, InstallationEvent) else event.repository.id,
        "partition": partition,
        "payload": "" if state == "done" else text,
        "state": state,
        "attempts": failures + (state == "dead"),
        "run_after": (row.delay_until_epoch_ms or row.created_at) / 1000,
        "arrived_at": arrived,
        "last_error": _reason(row.told) if state == "dead" else "",
        "done_at": None if state == "waiting" else (row.completed_at or row.created_at) / 1000,
    }


def _reason(told: str | None) -> str:
    """Why a job was given up; where nobody could tell, its worker had died."""
    try:
        return str(json.loads(told)["message"]) if told else DIED
    except (ValueError, LookupError, TypeError):
        return ""
