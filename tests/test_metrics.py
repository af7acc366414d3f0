"""The page for Prometheus."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.metrics import exposition
from bot.settings import Settings
from bot.store import open_store
from bot.web import create_app

LINE = re.compile(r'# (HELP|TYPE) \w+ .+|\w+\{\w+="(?:[^"\\\n]|\\[\\"n])*"\} \d+')


def values(page: str) -> dict[str, int]:
    assert all(LINE.fullmatch(line) for line in page.splitlines())
    return {
        line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in page.splitlines() if not line.startswith("#")
    }


def test_counters_become_metrics() -> None:
    page = exposition({"calls.hits": 7, "unknown event star": 2, "shadow.found": 1, "something": 3})
    assert values(page) == {
        'doppel_remembered_calls_total{from="memory"}': 7,
        'doppel_remembered_calls_total{from="github"}': 0,
        'doppel_shadow_total{was="found"}': 1,
        'doppel_shadow_total{was="silent"}': 0,
        'doppel_unknown_events_total{event="star"}': 2,
        'doppel_counts_total{name="something"}': 3,
    }
    assert page.count("# TYPE doppel_unknown_events_total counter\n") == 1


def test_names_cannot_break_the_page() -> None:
    page = exposition({'unknown event a"} 9\nb\\': 1})
    assert values(page)['doppel_unknown_events_total{event="a\\"} 9\\nb\\\\"}'] == 1


def test_t4_hits_and_misses_are_on_metrics(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'doppel.db'}"
    settings = Settings(home=tmp_path, database_url=url, webhook_secrets=("secret",))
    store = open_store(settings)
    store.counters.increment("calls.hits", 5)
    store.counters.increment("calls.misses", 2)
    store.close()
    response = create_app(settings).test_client().get("/metrics")
    assert (response.status_code, response.content_type) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert values(response.text)['doppel_remembered_calls_total{from="memory"}'] == 5
    assert values(response.text)['doppel_remembered_calls_total{from="github"}'] == 2


def test_503_while_the_database_is_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "disk").touch()
    url = f"sqlite:///{tmp_path / 'disk' / 'doppel.db'}"
    settings = Settings(home=tmp_path, database_url=url, webhook_secrets=("secret",))
    assert create_app(settings).test_client().get("/metrics").status_code == 503
