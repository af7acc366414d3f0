"""F8: one search, lexical or hybrid, with everything that GitHub says about it."""

from __future__ import annotations

import pytest

from bot.github.repository import RepoClient
from bot.simulator import Simulator


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "Crash when saving a file", "x" * 20_000, labels=["bug"])
    sim.open_issue("acme/app", "bob", "Crash at start", "")
    sim.open_issue("acme/app", "carol", "Slow tooltips", "")


def test_a_hybrid_search_says_how_it_searched(client: RepoClient) -> None:
    assert client.search("repo:acme/app is:issue crash while saving", hybrid=True).fallback_reasons == ()
    fallen = client.search('repo:acme/app is:issue "crash at start"', hybrid=True)
    assert "quoted_text" in fallen.fallback_reasons


def test_any_text_travels_as_it_is(client: RepoClient) -> None:
    page = client.search("repo:acme/app is:issue crash & # ? + % é 漢字")
    assert page.total_count == 0
