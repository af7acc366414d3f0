"""Carries over what an earlier build's queue holds in DBOS's tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from bot.events import InstallationEvent, from_json

_STATES = {
    **dict.fromkeys(("ENQUEUED", "DELAYED", "PENDING"), "waiting"),
    **dict.fromkeys(("ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"), "dead"),
}


def carry_over(connection: sa.Connection, jobs: sa.Table, queue_of: Callable[[str], str], died: str) -> None:
    """Move what waits or was given up in DBOS's tables into `jobs`, and drop these, in the caller's transaction.

    Of what is done it keeps the ids, so that a redelivery changes nothing. `died` is the reason where no run ended.
    """
    schema = None if connection.dialect.name == "sqlite" else "dbos"
    if not sa.inspect(connection).has_table("workflow_status", schema=schema):
        return
    old = sa.MetaData()
    run, given, output = (
        sa.Table(f"workflow_{name}", old, autoload_with=connection, schema=schema)
        for name in ("status", "input", "output")
    )
    rows = connection.execute(
        sa.select(run, given.c.inputs.label("given"), output.c.error.label("reason"))
        .outerjoin_from(run, given, run.c.workflow_uuid == given.c.workflow_uuid)
        .outerjoin(output, run.c.workflow_uuid == output.c.workflow_uuid)
        .where(run.c.name == "job")
        .order_by(run.c.created_at)
    )
    # A delivery's later runs are workflows of their own, `ID~2` and so on; the last one has its state.
    latest = dict[str, tuple[int, Any]]()
    for row in rows:
        delivery, _, number = row.workflow_uuid.partition("~")
        latest[delivery] = max(latest.get(delivery, (0, row)), (int(number or 1), row), key=lambda one: one[0])
    if latest:
        connection.execute(
            sa.insert(jobs), [_job(delivery, row, queue_of, died) for delivery, (_, row) in latest.items()]
        )
    if schema:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    for name in sa.inspect(connection).get_table_names():
        # The first two were tables of ours beside DBOS's.
        if name in ("queue_executors", "queue_trials") or (schema is None and name != jobs.name):
            connection.exec_driver_sql(f'DROP TABLE "{name}"')


def _job(delivery: str, row: Any, queue_of: Callable[[str], str], died: str) -> dict[str, Any]:
    """A row of `jobs`; done where nobody can read it."""
    try:
        _, _, failures, _, partition, text = json.loads(row.given)["positionalArgs"]
        event, state = from_json(text), _STATES.get(row.status, "done")
    except (ValueError, LookupError, TypeError, AttributeError):
        failures, partition, text, event, state = 0, delivery, "", None, "done"
    try:
        reason = str(json.loads(row.reason)["message"]) if row.reason else died
    except (ValueError, LookupError, TypeError):
        reason = ""
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
        "arrived_at": row.created_at / 1000,
        "last_error": reason if state == "dead" else "",
        "done_at": None if state == "waiting" else (row.completed_at or row.created_at) / 1000,
    }
