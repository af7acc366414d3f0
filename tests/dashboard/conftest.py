"""A host with one public and one private repository, some decisions, and people who may see them or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import FileSystemBytecodeCache

from bot.app.wiring.indexes import build_index
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import RepoRef, Repository
from bot.domain.report import Evidence
from bot.platform.settings import Settings, load
from bot.quality.evaluation.figures import Evaluation, evaluate
from bot.quality.evaluation.measures import JudgedArrival
from bot.quality.evaluation.runs import EvaluationRuns
from bot.search.index import IndexedIssue
from bot.simulator import Server, start_simulator
from bot.storage import Store, open_store
from bot.storage.repositories import Progress
from bot.web import create_app

HOSTILE = '<script>alert("title")</script> [x](javascript:alert(1))'


@dataclass(slots=True)
class Host:
    """The bot's host. `public` and `private` are the ids of acme/app and acme/secret."""

    simulator: Server
    settings: Settings
    store: Store
    public: int
    private: int

    def look(self, number: int, at: float, outcome: DecisionOutcome, *evidence: Evidence, **more: str) -> None:
        """The bot has looked at an issue of acme/app, which somebody had edited unless `cause` says otherwise."""
        given = {"cause": "edited", "mode": "comment", "reason": ""} | more
        found = Decision(number, at, given["cause"], given["mode"], outcome, 0.2, given["reason"], evidence)
        self.store.decisions.add(self.public, found)

    def browser(self) -> FlaskClient:
        """Somebody's browser, not signed in."""
        return create_app(self.settings).test_client()

    def come_back(self, browser: FlaskClient, login: str, path: str = "/login") -> str:
        """Go to GitHub's page and agree as `login`; the address that GitHub sends the browser back to."""
        leaving = browser.get(path).location
        answer = requests.post(leaving, data={"login": login}, allow_redirects=False, timeout=60)
        back = urlsplit(answer.headers["Location"])
        assert set(parse_qs(back.query)) == {"code", "state"}
        return f"{back.path}?{back.query}"


@pytest.fixture(scope="package", autouse=True)
def templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each test has applications of its own, of which each would compile every template once more."""
    compiled = FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))
    with mock.patch.dict(Flask.jinja_options, bytecode_cache=compiled):
        yield


@pytest.fixture
def host(prepared_home: Path) -> Iterator[Host]:
    with start_simulator() as simulator:
        sim = simulator.sim
        app = sim.add_repository("acme/app")
        secret = sim.add_repository("acme/secret", private=True)
        sim.install("acme")
        sim.app.callback_urls = ("http://localhost/login/callback",)
        sim.set_permission(app, "tara", "triage")
        sim.set_permission(app, "rita", "read")
        sim.set_permission(secret, "mona", "maintain")
        settings = load(
            {
                "DOPPEL_HOME": str(prepared_home),
                "GITHUB_API_URL": simulator.url,
                "APP_ID": str(simulator.app_id),
                "PRIVATE_KEY": simulator.private_key_pem,
                "WEBHOOK_SECRET": simulator.webhook_secret,
                "GITHUB_CLIENT_ID": sim.app.client_id,
                "GITHUB_CLIENT_SECRET": sim.app.client_secret,
            },
            prepared_home / "no.env",
        ).model_copy(update={"sqlite_synchronous": "OFF"})
        store = open_store(settings)
        installation = min(sim.installations)
        for repo in (app, secret):
            summary = Repository(repo.id, RepoRef.parse(repo.full_name), repo.private, False)
            store.repositories.upsert(summary, installation, 1.0)
        _fill(store, settings, app.id, secret.id)
        yield Host(simulator, settings, store, app.id, secret.id)
        store.close()
        assert sim.violations == []


def _fill(store: Store, settings: Settings, public: int, private: int) -> None:
    index = build_index(settings, store)
    issues = [
        IndexedIssue(1, "The map stays grey", "Since the last update.", author="ann", created_at=1),
        IndexedIssue(2, HOSTILE, "", author="bob", created_at=2),
        IndexedIssue(3, "Grey map after the update", "", author="cid", created_at=3),
    ]
    index.put(public, issues)
    index.put(private, [IndexedIssue(1, "A plan that nobody may know", "", author="mona", created_at=1)])
    decisions = store.decisions
    evidence = (
        Evidence(1, 0.71, 1, True, {"full-text": 1, "vectors": 3}, (0.62, 0.55), ("words of titles",)),
        Evidence(2, 0.08, 2, False, {"vectors": 9}, (0.1, 0.05)),
    )
    decisions.add(public, Decision(3, 1_000_000.0, "opened", "comment", DecisionOutcome.POSTED, 0.2, "", evidence))
    decisions.add(public, Decision(2, 1_000_100.0, "opened", "comment", DecisionOutcome.SILENT, 0.2, "nothing is near"))
    decisions.add(private, Decision(1, 1_000_200.0, "opened", "shadow", DecisionOutcome.SILENT, 0.2))


def figures() -> Evaluation:
    """An evaluation of 1,000 arrivals, one every three hours; of forty that repeat an earlier one it finds half."""
    start = datetime(2025, 1, 1, tzinfo=UTC)
    judged = [
        JudgedArrival(n, start + timedelta(hours=3 * n), None, ((1, 0.3),) if n % 100 == 1 else ()) for n in range(1000)
    ]
    for n in range(0, 1000, 25):
        found = ((1, 0.44 + n / 2000),) if n % 50 else ()
        judged[n] = JudgedArrival(n, judged[n].arrived, frozenset({1}), found)
    return evaluate(judged, issues=1_250, arrived=[one.arrived for one in judged], min_confidence=0.2)


@pytest.fixture
def evaluated(host: Host) -> None:
    """acme/app has an evaluation, and its index is complete."""
    host.store.backfills.set(host.public, Progress(done=True))
    EvaluationRuns(host.store.engine).put(host.public, figures(), 1_750_000_000.0)


@pytest.fixture
def signed_in(host: Host) -> Callable[[str], FlaskClient]:
    """A browser in which somebody has signed in."""

    def sign_in(login: str) -> FlaskClient:
        browser = host.browser()
        answer = browser.get(host.come_back(browser, login))
        assert (answer.status_code, answer.location) == (302, "/dashboard"), answer.text
        cookie = next(one for one in answer.headers.getlist("Set-Cookie") if one.startswith("doppel_session="))
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        return browser

    return sign_in


def words(page: str) -> str:
    """What a page says, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())
