"""`/metrics`: what is counted, by several processes, as Prometheus and OpenMetrics read it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from bot.index.vectors import models
from bot.jobs.queue.database import queue_engine
from bot.jobs.recovery import executors
from bot.judgements import Kind, Rejection, Signal, VerdictKind, Who
from bot.monitoring import tally as tally_module
from bot.monitoring.exposition import counted
from bot.monitoring.tally import Tally, key, read_key
from bot.settings import Settings
from bot.store import open_store
from bot.store.parts.gauges import FRESH
from bot.telemetry.metrics import COMMENT_SECONDS, COMMENTS, JOBS, LEFT, REGISTRY, Left
from bot.web import create_app
from tests.waiting import LONGEST

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    open_store(Settings(home=tmp_path, database_url=database_url)).close()
    return Settings(home=tmp_path, database_url=database_url, webhook_secrets=("secret",))


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


def read(client: FlaskClient) -> dict[str, float]:
    """The page as numbers by the sample's name and the values of its labels."""
    response = client.get("/metrics")
    assert response.status_code == 200
    return {
        " ".join([sample.name, *(value for _, value in sorted(sample.labels.items()))]): sample.value
        for family in prometheus(response.text)
        for sample in family.samples
    }


def test_counts_of_several_processes_add_up(settings: Settings, client: FlaskClient) -> None:
    worker, other = Tally(settings), Tally(settings)
    before = read(client)
    JOBS.labels("done").inc()
    COMMENT_SECONDS.observe(0.3)
    for process in (worker, other):
        # Each tally of this process tells all that was counted in it, as if it were a process of its own.
        assert process.flush()
        assert process.flush()
    after = read(client)
    assert after["doppel_jobs_total done"] - before["doppel_jobs_total done"] == 3
    assert after["doppel_comment_seconds_count"] - before["doppel_comment_seconds_count"] == 3
    assert after["doppel_comment_seconds_sum"] - before["doppel_comment_seconds_sum"] == pytest.approx(0.9)
    buckets = [after[f"doppel_comment_seconds_bucket {le}"] for le in ("0.25", "0.5", "1.0", "+Inf")]
    assert buckets == [0, 3, 3, 3]


def test_what_cannot_be_written_is_written_later(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = f"sqlite:///{tmp_path / 'doppel.db'}"
    open_store(Settings(home=tmp_path, database_url=url)).close()
    settings = Settings(home=tmp_path, database_url=url, webhook_secrets=("secret",))
    client, process = create_app(settings).test_client(), Tally(settings)
    COMMENTS.labels("posted").inc()
    other = sqlite3.connect(tmp_path / "doppel.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not process.flush()
    assert "cannot be written now" in caplog.text
    other.close()
    before = read(client)["doppel_comments_total posted"]
    assert process.flush()
    assert read(client)["doppel_comments_total posted"] == before + 1


def test_a_machine_whose_clock_is_ahead_hides_no_other(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """It took what the others had said a moment ago for old, also which model they have."""
    process, ahead = Tally(settings, {models.gauge("a model"): 1.0}), Tally(settings, {models.gauge("another"): 1.0})
    assert process.flush()
    clock = time.time
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: clock() + 2 * FRESH)
        assert ahead.flush()
    with process.engine.connect() as connection:
        assert set(models.in_use(connection)) == {"a model", "another"}
    for one in (process, ahead):
        one.stop()


def test_a_process_writes_by_itself_and_at_its_end(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_module, "EVERY", 0.02)
    written = threading.Event()

    class Watched(Tally):
        def flush(self) -> bool:
            done = super().flush()
            written.set()
            return done

    process, client = Watched(settings), create_app(settings).test_client()
    before = read(client)["doppel_jobs_total refused"]
    process.start()
    JOBS.labels("refused").inc()
    written.clear()
    assert written.wait(LONGEST)
    JOBS.labels("refused").inc()
    process.stop()
    # Once by the process, once by the web's own tally, each.
    assert read(client)["doppel_jobs_total refused"] - before == 4


def test_the_state_of_queue_index_and_verdicts(settings: Settings, client: FlaskClient) -> None:
    store = open_store(settings)
    store.verdicts.add(1, 2, 1, VerdictKind.NOT, actor="ann", command_id=3, now=0.0)
    # One in this repository and two in others, of which one was taken back.
    for other in ("acme/lib#1", "acme/lib#2"):
        store.elsewhere.add(1, Rejection(2, other, "ann", 0.0, 3))
    store.elsewhere.undo(1, Rejection(2, "acme/lib#2", "ann", 0.0, 3), 4, 1.0)
    voices = [Signal(2, Kind.REACTION, login, 0, False, Who.OTHER, 1.0) for login in ("ann", "bob")]
    store.signals.replace(1, 2, Kind.REACTION, voices)
    store.close()
    client.get("/readyz")
    executors.beat(queue_engine(settings), executors.this_process())
    # A resource of its own: tests of the client before this one, in the same process, have used up others.
    LEFT.say("audit_log", 1, 7, 60.0)
    page = read(client)
    assert page["doppel_verdicts not"] == 2
    assert page["doppel_verdicts of"] == 0
    assert page["doppel_feedback reaction no"] == 2
    assert page["doppel_feedback reaction yes"] == page["doppel_feedback vote no"] == 0
    assert page["doppel_queue_jobs events waiting"] == 0
    assert page["doppel_queue_oldest_seconds events"] == 0
    assert page["doppel_dead_letters"] == 0
    assert page["doppel_workers"] == 1
    assert 0 <= page["doppel_worker_heartbeat_age_seconds"] < 10
    assert page["doppel_github_remaining audit_log"] == 7
    assert page["doppel_index_issues_without_vectors"] == 0
    assert [name for name in page if name.startswith("doppel_model_info")] == [
        name for name in page if "wordllama" in name
    ]


def test_the_page_in_both_formats(client: FlaskClient) -> None:
    plain = client.get("/metrics")
    assert plain.content_type.startswith("text/plain; version=")
    open_metrics = client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert open_metrics.content_type.startswith("application/openmetrics-text; version=1.0.0")
    names = {family.name for family in prometheus(plain.text)}
    # The strict reader: order of samples, bounds of histograms, end of file. It names families without their endings.
    found = {name.removesuffix("_total").removesuffix("_info") for name in names}
    assert {family.name for family in openmetrics(open_metrics.text)} == found  # type: ignore[no-untyped-call]
    assert {family.name for family in REGISTRY.collect()} < found


def test_every_metric_has_its_known_values_from_the_start(client: FlaskClient) -> None:
    page = read(client)
    for outcome in ("accepted", "known", "ignored", "refused", "failed"):
        assert f"doppel_deliveries_total {outcome}" in page
    for outcome in ("done", "failed", "dead"):
        assert f"doppel_jobs_total {outcome}" in page
    for what in ("posted", "edited", "silent"):
        assert f"doppel_comments_total {what}" in page


def test_what_another_version_has_stored_breaks_nothing() -> None:
    stored = {
        "calls.hits": 3,
        'doppel_gone_total {"a": "b"}': 1,
        'doppel_comment_seconds_bucket {"le": "0.123"}': 5,
        key("doppel_jobs_total", {"outcome": 'a"} 9\nb\\'}): 2,
    }
    samples = {
        (sample.name, *sample.labels.values()): sample.value for family in counted(stored) for sample in family.samples
    }
    assert samples["doppel_jobs_total", 'a"} 9\nb\\'] == 2
    assert ("doppel_comment_seconds_bucket", "0.123") not in samples
    assert not any("gone" in name[0] for name in samples)


@pytest.mark.parametrize("stored", ["calls.hits", "a [1]", "a {", ""])
def test_names_that_are_none_of_ours(stored: str) -> None:
    assert read_key(stored) is None


def test_what_is_left_is_the_least_until_its_period_ends() -> None:
    now = 0.0
    left = Left(lambda: now)
    left.say("core", 1, 4000, 100.0)
    left.say("core", 2, 30, 10.0)
    left.say("core", 2, 20, 10.0)
    left.say("search", 1, 5, 5.0)
    assert left.lowest() == {"core": 20, "search": 5}
    now = 20.0
    assert left.lowest() == {"core": 4000}


class TestToken:
    @pytest.fixture
    def ask(self, tmp_path: Path) -> Callable[[str], int]:
        url = f"sqlite:///{tmp_path / 'doppel.db'}"
        settings = Settings(home=tmp_path, database_url=url, webhook_secrets=("secret",), metrics_token="t0ken-é")
        client = create_app(settings).test_client()
        return lambda given: client.get("/metrics", headers={"Authorization": given} if given else {}).status_code

    def test_where_a_token_is_set_nobody_reads_it_without(self, ask: Callable[[str], int]) -> None:
        assert [ask(given) for given in ("", "Bearer", "Bearer t0ken", "t0ken-é", "Basic t0ken-é")] == [401] * 5
        assert ask("Bearer t0ken-é") == 200


def test_503_while_the_database_is_away(tmp_path: Path) -> None:
    (tmp_path / "disk").touch()
    url = f"sqlite:///{tmp_path / 'disk' / 'doppel.db'}"
    settings = Settings(home=tmp_path, database_url=url, webhook_secrets=("secret",))
    assert create_app(settings).test_client().get("/metrics").status_code == 503
