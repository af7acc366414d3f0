"""`/metrics`: what is counted, by several processes, as Prometheus and OpenMetrics read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from bot.deliveries.database import queue_engine
from bot.deliveries.queue import Queue
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role, UserVerdictKind
from bot.platform.metrics import GITHUB_REMAINING, REGISTRY
from bot.platform.settings import Settings
from bot.storage import open_store
from bot.web import create_app

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


def test_the_state_of_queue_index_and_verdicts(settings: Settings, client: FlaskClient) -> None:
    store = open_store(settings)
    store.verdicts.add(1, 2, 1, UserVerdictKind.NOT, actor="ann", command_id=3, now=0.0)
    # One in this repository and two in others, of which one was taken back.
    for other in ("acme/lib#1", "acme/lib#2"):
        store.verdicts.add(1, 2, 0, UserVerdictKind.NOT, actor="ann", command_id=3, now=0.0, issue=other)
    store.verdicts.undo(store.verdicts.of_pair(1, 2, 0, "acme/lib#2")[0].id, 4, 1.0)
    voices = [FeedbackSignal(2, FeedbackKind.REACTION, login, 0, False, Role.OTHER, 1.0) for login in ("ann", "bob")]
    store.signals.replace(1, 2, FeedbackKind.REACTION, voices)
    store.close()
    client.get("/readyz")
    Queue(queue_engine(settings)).register("one")
    GITHUB_REMAINING.labels("audit_log").set(7)
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
    found = {name.removesuffix("_total").removesuffix("_info") for name in names if not name.endswith("_created")}
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


def test_where_a_token_is_set_nobody_reads_it_without(settings: Settings) -> None:
    client = create_app(settings.model_copy(update={"metrics_token": "t0ken-é"})).test_client()
    answers = {
        given: client.get("/metrics", headers={"Authorization": given} if given else {}).status_code
        for given in ("", "Bearer", "Bearer t0ken", "t0ken-é", "Basic t0ken-é", "Bearer t0ken-é")
    }
    assert [given for given, status in answers.items() if status != 401] == ["Bearer t0ken-é"]
    assert answers["Bearer t0ken-é"] == 200


def test_503_while_the_database_is_away(tmp_path: Path) -> None:
    (tmp_path / "disk").touch()
    url = f"sqlite:///{tmp_path / 'disk' / 'doppel.db'}"
    settings = Settings(home=tmp_path, database_url=url, webhook_secrets=("secret",))
    assert create_app(settings).test_client().get("/metrics").status_code == 503
