"""What an earlier version's queue held, in DBOS's tables, is in ours after the first start, and these are gone."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.deliveries.database import BACKGROUND_QUEUE, DIED, QUEUE, ensure_schema, jobs, queue_engine
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.events import Event, to_json
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import Queue
from bot.domain.entities import RepoRef
from bot.platform.settings import Settings
from tests.jobs.conftest import event, step

# As that version made them, as far as they were used.
_TABLES = (
    "CREATE TABLE {}workflow_status (workflow_uuid TEXT PRIMARY KEY, status TEXT, name TEXT,"
    " created_at BIGINT NOT NULL, completed_at BIGINT,"
    " delay_until_epoch_ms BIGINT, inputs TEXT, output TEXT, error TEXT)",
    "CREATE TABLE {}workflow_input (workflow_uuid TEXT NOT NULL PRIMARY KEY, inputs TEXT)",
    "CREATE TABLE {}workflow_output (workflow_uuid TEXT NOT NULL PRIMARY KEY, output TEXT, error TEXT)",
    "CREATE TABLE {}workflow_events (workflow_uuid TEXT NOT NULL REFERENCES {}workflow_status(workflow_uuid)"
    " ON UPDATE CASCADE ON DELETE CASCADE, key TEXT NOT NULL)",
    "CREATE TABLE queue_executors (executor_id TEXT PRIMARY KEY)",
    "CREATE TABLE queue_trials (workflow_id TEXT PRIMARY KEY)",
)
NOW = int(time.time()) * 1000


class Old:
    """That version's queue."""

    def __init__(self, settings: Settings) -> None:
        self.engine = queue_engine(settings)
        self.place = "" if self.engine.dialect.name == "sqlite" else "dbos."
        with self.engine.begin() as connection:
            if self.place:
                connection.exec_driver_sql("CREATE SCHEMA dbos")
            for table in _TABLES:
                connection.exec_driver_sql(table.format(*[self.place] * 2))

    def run(
        self,
        run: str,
        status: str,
        about: Event | str | None,
        failures: int = 0,
        error: str = "",
        due: int | None = None,
        told: str | None = None,
    ) -> None:
        """A workflow; with `about` None its content is erased."""
        delivery, _, number = run.partition("~")
        ended = NOW if status in ("SUCCESS", "ERROR", "CANCELLED") else None
        text = about if isinstance(about, str) or about is None else to_json(about)
        partition = "5#7" if isinstance(about, str) or about is None else about.partition
        given = [delivery, int(number or 1), failures, NOW, partition, text]
        told = json.dumps({"name": "GivenUp", "message": error, "code": None}) if error else told
        rows = [("status", {"status": status, "name": "job", "created_at": NOW, "completed_at": ended,
                            "delay_until_epoch_ms": due or None})]  # fmt: skip
        if text is not None:
            rows.append(("input", {"inputs": json.dumps({"namedArgs": {}, "positionalArgs": given})}))
        if ended:
            rows.append(("output", {"error": told}))
        with self.engine.begin() as connection:
            for table, values in rows:
                row = {"workflow_uuid": run, **values}
                names, places = ", ".join(row), ", ".join(f":{name}" for name in row)
                into = f"INSERT INTO {self.place}workflow_{table} ({names}) VALUES ({places})"
                connection.execute(sa.text(into), row)


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, database_url=database_url)


def test_all_that_waits_or_was_given_up_comes_over_and_of_the_rest_the_ids(settings: Settings) -> None:
    old, issue = Old(settings), event(7, installation=3)
    old.run("running", "PENDING", issue)
    old.run("behind", "ENQUEUED", issue)
    old.run("later", "DELAYED", event(8), due=NOW + 500_000)
    old.run(step(5).delivery_id, "ENQUEUED", step(5))
    # In no order: all runs of a delivery bear the time at which it arrived.
    for run, status, failures in (("bad~3", "ERROR", 2), ("bad", "SUCCESS", 0), ("bad~2", "SUCCESS", 1)):
        old.run(run, status, event(9), failures, "ValueError at handle (x.py:1)" if status == "ERROR" else "")
    old.run("again", "SUCCESS", event(10))
    old.run("again~2", "DELAYED", event(10), 1, due=NOW - 1000)
    old.run("deadly", "MAX_RECOVERY_ATTEMPTS_EXCEEDED", event(11))
    old.run("done", "SUCCESS", event(12))
    old.run("erased", "ERROR", None, 2, "ValueError")
    old.run("told in another way", "ERROR", event(13), 2, told="not JSON")
    old.run("foreign", "ENQUEUED", '{"kind": "riddle"}')
    ensure_schema(settings)

    with old.engine.connect() as connection:
        rows = {row.id: row for row in connection.execute(sa.select(jobs).order_by(jobs.c.number))}
    waiting = {"running", "behind", "later", "again", step(5).delivery_id}
    dead = {"bad", "deadly", "told in another way"}
    assert {id for id, row in rows.items() if row.state == "waiting"} == waiting
    assert {id for id, row in rows.items() if row.state == "dead"} == dead
    assert {id for id, row in rows.items() if row.state == "done"} == {"done", "erased", "foreign"}
    assert {id for id, row in rows.items() if row.payload} == waiting | dead
    first = rows["running"]
    assert (first.queue, first.installation, first.repository, first.partition) == (QUEUE, 3, 5, "5#7")
    assert (first.payload, first.arrived_at, first.run_after) == (to_json(issue), NOW / 1000, NOW / 1000)
    assert rows[step(5).delivery_id].queue == BACKGROUND_QUEUE
    assert (rows["later"].run_after, rows["again"].attempts) == (NOW / 1000 + 500, 1)

    letters = {one.delivery_id: one for one in DeadLetters(settings).list()}
    bad = letters["bad"]
    assert (bad.attempts, bad.reason, bad.failed_at) == (3, "ValueError at handle (x.py:1)", NOW / 1000)
    assert (letters["deadly"].attempts, letters["deadly"].reason) == (0, DIED)
    assert (bad.event, bad.repository, set(letters)) == ("issues.opened", RepoRef("acme", "app"), dead)

    names = sa.inspect(old.engine)
    assert names.get_table_names() == ["jobs"] and "dbos" not in names.get_schema_names()
    inbox, queue = Inbox(settings), Queue(old.engine)
    assert not any(inbox.put(id, issue) for id in rows)
    (claim,) = queue.claim(QUEUE)
    assert claim and claim.id == "running", "in order of arrival, and the store's other tables stay"
    inbox.close()
    old.engine.dispose()


def test_what_is_not_the_queues_stays(settings: Settings) -> None:
    """On PostgreSQL the store is in the same database."""
    old = Old(settings)
    if old.place:
        with old.engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE comments (id integer)")
        ensure_schema(settings)
        assert set(sa.inspect(old.engine).get_table_names()) == {"jobs", "comments"}
    old.engine.dispose()


def test_a_second_start_finds_all_as_it_is(settings: Settings) -> None:
    old = Old(settings)
    old.run("waits", "ENQUEUED", event(7))
    for _ in range(2):
        ensure_schema(settings)
    with old.engine.connect() as connection:
        assert connection.execute(sa.select(jobs.c.id)).scalars().all() == ["waits"]
    old.engine.dispose()
