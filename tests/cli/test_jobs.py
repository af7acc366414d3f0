"""`doppel jobs`: what was given up is listed with its reason, and put back into the queue when asked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from bot.app.cli import cli
from bot.deliveries import queue
from bot.deliveries.database import jobs, queue_engine
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.events import IssueEvent
from bot.deliveries.inbox import Inbox
from bot.deliveries.worker import Job, Worker
from bot.domain.entities import Actor, RepoRef, Repository
from bot.platform.settings import Settings
from bot.storage.engine import write
from tests.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """A queue in which two deliveries have been given up."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path))
    monkeypatch.setattr(queue, "_FIRST_WAIT", 0.0)
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'doppel.db'}")

    def fail(job: Job) -> None:
        raise ZeroDivisionError("a private word")

    worker = Worker(settings, fail)
    worker.start()
    inbox, letters = Inbox(settings), DeadLetters(settings)
    for number in (1, 2):
        repository = Repository(5, RepoRef("acme", "app"), private=True)
        inbox.put(f"delivery-{number}", IssueEvent("opened", 1, repository, number, Actor("ann"), Actor("ann")))
    wait_until(lambda: len(letters.list()) == 2)
    worker.stop(1)
    inbox.close()
    letters.close()
    yield settings


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["jobs", *arguments], catch_exceptions=False)


def test_what_was_given_up_is_listed_and_tried_again(given_up: Settings) -> None:
    shown = run()
    assert shown.exit_code == 0
    assert "delivery-1  issues.opened acme/app, given up 20" in shown.stdout
    assert "after 3 attempts: ZeroDivisionError at fail" in shown.stdout and "private word" not in shown.stdout
    listed = json.loads(run("--json").stdout)
    assert {one["delivery_id"]: one["repository"] for one in listed} == {
        "delivery-1": "acme/app",
        "delivery-2": "acme/app",
    }
    for one in listed:
        assert datetime.now(UTC) - datetime.fromisoformat(one["failed_at"]) < timedelta(minutes=10)
    assert len(json.loads(run("--json", "--limit", "1").stdout)) == 1
    again = run("retry", "delivery-1")
    assert (again.exit_code, again.stdout) == (0, "1 of 1 put back into the queue\n")
    missed = run("retry", "delivery-1")
    assert (missed.exit_code, missed.stdout) == (1, "0 of 1 put back into the queue\n")
    assert missed.stderr.startswith("delivery-1: no delivery of this id was given up")
    assert run("retry", "--all").stdout == "1 of 1 put back into the queue\n"
    assert run().stdout == "Nothing was given up.\n"
    assert run("retry", "--all").stdout == "0 of 0 put back into the queue\n"


def test_what_is_erased_takes_no_place_in_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that went with its many letters would hide for a month what was given up of others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path))
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'doppel.db'}")
    engine = queue_engine(settings, pool_size=1)
    with closing(Inbox(settings)) as inbox, closing(DeadLetters(settings)) as letters:
        for id in (5, 6):
            repository = Repository(id, RepoRef("acme", f"app-{id}"), private=True)
            inbox.put(f"delivery-{id}", IssueEvent("opened", 1, repository, 1, Actor("ann"), Actor("ann")))
        with write(engine) as connection:
            connection.execute(sa.update(jobs).values(state="dead", done_at=time.time()))
        assert [one["delivery_id"] for one in json.loads(run("--json").stdout)] == ["delivery-6", "delivery-5"]
        inbox.erase(6)
        assert [one["delivery_id"] for one in json.loads(run("--json", "--limit", "1").stdout)] == ["delivery-5"]
        assert [one.delivery_id for one in letters.of(5)] == ["delivery-5"] and letters.of(6) == ()
        inbox.erase(5)
        assert letters.list() == []
    engine.dispose()


@pytest.mark.parametrize("arguments", [[], ["delivery-1", "--all"]])
def test_it_is_said_what_to_retry(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path))
    refused = run("retry", *arguments)
    assert refused.exit_code == 2 and "either the ID of a delivery" in refused.stderr
