"""F8a: what GitHub answers who asks for similar issues, read by the real client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.domain.entities import Likeness
from bot.domain.errors import DoppelError, GitHubError
from bot.github.calls import SwitchedOff
from bot.github.repository import RepoClient
from bot.simulator import Simulator
from bot.simulator.http.context import Context
from tests.github.conftest import REPO

PATH = "/repos/acme/app/issues/2/semantically_similar"


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    sim.open_issue(str(REPO), "ann", "Crash on login behind a proxy", "panic: proxy refused the connection")
    sim.open_issue(str(REPO), "bob", "Crash on login behind a proxy", "panic: proxy refused it")
    sim.set_similarity(str(REPO), "ranked")


def changed(monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change each item that the simulator answers."""
    page = Context.page
    monkeypatch.setattr(Context, "page", lambda self, items, show: page(self, items, lambda one: change(show(one))))


def test_f8a_ranked_issues_come_with_what_github_says_of_them(
    client: RepoClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((issue, likeness),) = client.similar_issues(REPO, 2).items
    assert (issue.number, issue.repo) == (1, REPO)
    assert (likeness.confidence, likeness.likely_duplicate) == ("high", True)
    assert likeness.score is not None and likeness.score > 1
    changed(monkeypatch, lambda item: {**item, "score": None, "likely_duplicate": None, "confidence": "low"})
    assert [says for _, says in client.similar_issues(REPO, 2).items] == [Likeness(None, "low", False)]


@pytest.mark.parametrize("status", [422, 500, 503])
def test_f8a_other_failures_switch_nothing_off(client: RepoClient, sim: Simulator, status: int) -> None:
    sim.faults.add(f"GET {PATH}", status, times=None)
    with pytest.raises(DoppelError):
        client.similar_issues(REPO, 2)
    sim.faults.clear()
    assert client.similar_issues(REPO, 2).enabled


def test_f8a_what_is_no_list_is_a_failure(client: RepoClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Context, "page", lambda self, items, show: {"items": []})
    with pytest.raises(GitHubError, match="no list"):
        client.similar_issues(REPO, 2)


def test_what_is_switched_off_is_so_for_a_day() -> None:
    now = [0.0]
    off = SwitchedOff(lambda: now[0])
    off.add("similar issues in a/b")
    now[0] = 86_399.0
    assert "similar issues in a/b" in off
    assert "similar issues in a/c" not in off
    now[0] = 86_400.0
    assert "similar issues in a/b" not in off
