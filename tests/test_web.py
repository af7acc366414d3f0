"""The receiver through the real Flask application and the real queue."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from bot.deliveries import inbox
from bot.deliveries.database import jobs, queue_engine
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.events import OWN_ACTIONS, EvaluationEvent, IndexEvent, ScanEvent
from bot.deliveries.queue import Queue
from bot.deliveries.webhook import LARGEST_PAYLOAD, sign
from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import SettingsError
from bot.platform.settings import Settings
from bot.storage import open_store
from bot.web import create_app

GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
SECRET = "It's a Secret to Everybody"
USER = {"login": "ann", "id": 7, "type": "User"}
PAYLOAD = {
    "action": "opened",
    "issue": {"id": 100, "number": 12, "title": "It crashes", "body": "private text", "user": USER},
    "repository": {"id": 5, "full_name": "acme/app", "private": True},
    "sender": USER,
    "installation": {"id": 3},
}

REPOSITORY = Repository(5, RepoRef("acme", "app"), private=True)
# As jobs of our own are named in the queue.
OWN = [
    "chore:reconcile:1",
    "chore:recover:start:1",
    IndexEvent(3, REPOSITORY, "first").delivery_id,
    IndexEvent(3, REPOSITORY, "first", completed=True).delivery_id,
    ScanEvent(3, REPOSITORY, GUID).delivery_id,
    EvaluationEvent(3, REPOSITORY, GUID).delivery_id,
    *(f"{action}-{rest}" for action in sorted(OWN_ACTIONS) for rest in (GUID, "5-12-7")),
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path, database_url=f"sqlite:///{tmp_path / 'doppel.db'}", webhook_secrets=(SECRET, "previous")
    )


@pytest.fixture
def client(settings: Settings, prepared_home: Path) -> FlaskClient:
    return create_app(settings).test_client()


def headers(body: bytes, delivery: str = GUID, event: str = "issues", secret: str = SECRET) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": sign(secret, body),
    }


def post(client: FlaskClient, payload: Any = PAYLOAD, **options: str) -> TestResponse:
    body = json.dumps(payload).encode()
    return client.post("/webhook", data=body, headers=headers(body, **options))


def counted(client: FlaskClient) -> dict[str, float]:
    """The numbers of `/metrics` by series; what this process has counted is that of all its tests."""
    lines = [line.rpartition(" ") for line in client.get("/metrics").text.splitlines() if not line.startswith("#")]
    return defaultdict(float, {series: float(value) for series, _, value in lines})


def queued(settings: Settings) -> list[tuple[str, str, str]]:
    """What is in the queue: id, status, what it is about."""
    with queue_engine(settings).connect() as connection:
        return [tuple(row) for row in connection.execute(sa.select(jobs.c.id, jobs.c.state, jobs.c.partition))]


class TestStarting:
    def test_without_a_secret_it_does_not_start(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="WEBHOOK_SECRET"):
            create_app(Settings(home=tmp_path, database_url="sqlite:////nowhere/doppel.db"))

    def test_it_starts_while_the_database_is_away_and_works_when_it_is_back(self, tmp_path: Path) -> None:
        place = tmp_path / "disk"
        place.touch()
        url = f"sqlite:///{place / 'doppel.db'}"
        client = create_app(Settings(home=tmp_path, database_url=url, webhook_secrets=(SECRET,))).test_client()
        assert client.get("/readyz").status_code == 503
        assert post(client).status_code == 503
        assert client.get("/healthz").status_code == 200
        assert post(client, event="unheard_of").status_code == 202
        place.unlink()
        assert client.get("/readyz").status_code == 200
        assert post(client).status_code == 202


class TestDeliveries:
    def test_a_delivery_is_in_the_queue_when_it_is_answered(self, client: FlaskClient, settings: Settings) -> None:
        response = post(client)
        assert (response.status_code, response.json) == (202, {"delivery": GUID, "status": "queued"})
        assert queued(settings) == [(GUID, "waiting", "5#12")]

    @pytest.mark.parametrize("name", [*OWN, f"{GUID}~2", "d-1"])
    def test_no_delivery_takes_the_place_of_a_job_of_our_own(
        self, client: FlaskClient, settings: Settings, name: str
    ) -> None:
        """Its id is not signed: a genuine payload could be sent under the name of the next turn of a chore."""
        response = post(client, delivery=name)
        assert response.status_code == 400
        assert response.json is not None
        assert response.json["error"].startswith("X-GitHub-Delivery is missing or no GUID")
        assert queued(settings) == []

    def test_a_redelivery_is_a_no_op_that_says_so_also_in_capitals(
        self, client: FlaskClient, settings: Settings
    ) -> None:
        post(client)
        for again in (GUID, GUID.upper()):
            response = post(client, delivery=again)
            assert response.status_code == 202
            reason = "this delivery was taken before"
            assert response.json == {"delivery": GUID, "status": "known", "reason": reason}
        assert len(queued(settings)) == 1

    def test_ping_is_answered(self, client: FlaskClient, settings: Settings) -> None:
        response = post(client, {"zen": "Design for failure."}, event="ping")
        assert (response.status_code, response.json) == (202, {"delivery": GUID, "status": "pong"})
        assert queued(settings) == []

    def test_events_without_work_are_answered_and_not_queued(self, client: FlaskClient, settings: Settings) -> None:
        open_store(settings).close()
        before = counted(client)
        assert post(client, {}, event="star").status_code == 202
        assert post(client, {}, event="star").status_code == 202
        ignored = post(client, {**PAYLOAD, "action": "pinned"})
        assert ignored.status_code == 202
        assert ignored.json is not None
        assert ignored.json["status"] == "ignored"
        after = counted(client)
        ignored_total = 'doppel_deliveries_total{outcome="ignored"}'
        assert after[ignored_total] - before[ignored_total] == 3
        assert queued(settings) == []


class TestRefusals:
    @pytest.mark.parametrize("secret", ["wrong", ""])
    def test_401_without_a_good_signature(self, client: FlaskClient, settings: Settings, secret: str) -> None:
        response = post(client, secret=secret)
        assert response.status_code == 401
        assert response.json is not None
        assert "X-Hub-Signature-256" in response.json["error"]
        assert post(client, {}, event="ping", secret=secret).status_code == 401
        assert client.post("/webhook").status_code == 401
        assert queued(settings) == []

    def test_the_previous_secret_is_good_during_a_rotation(self, client: FlaskClient) -> None:
        assert post(client, secret="previous").status_code == 202

    def test_413_by_its_length_before_anything_is_read(self, client: FlaskClient) -> None:
        class Unread(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                raise AssertionError("it was read")

        length = {"CONTENT_LENGTH": str(LARGEST_PAYLOAD + 2)}
        response = client.post("/webhook", input_stream=Unread(), environ_overrides=length)
        assert response.status_code == 413
        assert response.json == {"error": "the payload is larger than 25 MB"}

    def test_404_and_405_are_json_too(self, client: FlaskClient) -> None:
        assert (client.get("/nothing").status_code, client.get("/nothing").json) == (404, {"error": "Not Found"})
        assert client.get("/webhook").status_code == 405


@pytest.mark.slow
class TestUnavailable:
    def test_503_before_github_gives_up_and_only_for_what_needs_the_queue(
        self, client: FlaskClient, settings: Settings
    ) -> None:
        # GitHub waits for ten seconds.
        assert inbox.PATIENCE <= 5
        with closing(sqlite3.connect(settings.home / "doppel-queue.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            response, unready = post(client), client.get("/readyz")
            assert post(client, event="ping").status_code == 202
            assert client.get("/healthz").status_code == 200
        locked = "the queue's database failed: another process keeps it locked; see `doppel doctor`"
        assert (response.status_code, response.json) == (503, {"error": locked})
        assert unready.status_code == 503
        assert unready.json is not None
        assert (unready.json["status"], unready.json["parts"]["queue"]) == ("not ready", locked)
        assert post(client).status_code == 202


class TestPages:
    def test_e2_index_says_what_this_is(self, client: FlaskClient) -> None:
        response = client.get("/")
        assert response.status_code == 200
        assert "GitHub App" in response.text

    def test_c7_whoever_looks_for_a_dashboard_that_is_off_is_told_how_it_is_switched_on(
        self, client: FlaskClient
    ) -> None:
        page = client.get("/dashboard", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert (page.status_code, page.mimetype) == (404, "text/html")
        assert "GITHUB_CLIENT_ID" in page.text
        assert client.get("/dashboard", headers={"Accept": "*/*"}).json == {"error": "Not Found"}

    def test_e2_healthz_and_readyz(self, client: FlaskClient, settings: Settings) -> None:
        assert (client.get("/healthz").status_code, client.get("/healthz").json) == (200, {"status": "alive"})
        open_store(settings).close()
        parts = {"queue": "ready", "store": "ready", "worker": "none is running"}
        assert (client.get("/readyz").status_code, client.get("/readyz").json) == (
            200,
            {"status": "ready", "parts": parts},
        )

    def test_readyz_says_how_the_worker_is_and_does_not_wait_for_it(
        self, client: FlaskClient, settings: Settings
    ) -> None:
        engine = queue_engine(settings)
        Queue(engine).register("one")
        assert self.worker(client).startswith("ready, last heard of ")
        with engine.begin() as connection:
            connection.execute(sa.update(jobs).values(lease_until=jobs.c.lease_until - 42))
        assert self.worker(client).startswith("silent, last heard of 4")

    def worker(self, client: FlaskClient) -> str:
        response = client.get("/readyz")
        assert response.status_code == 200
        assert response.json is not None
        return str(response.json["parts"]["worker"])


def test_logs_hold_no_secret_and_no_private_text(
    client: FlaskClient, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        post(client)
        post(client, secret="wrong")
        post(client, {**PAYLOAD, "issue": {"title": "private text"}})
    assert GUID in caplog.text
    assert "private text" not in caplog.text
    assert SECRET not in caplog.text
    assert DeadLetters(settings).list() == []
