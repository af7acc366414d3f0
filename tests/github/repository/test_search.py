"""F8: one search, lexical or hybrid, with everything that GitHub says about it."""

from __future__ import annotations

import pytest

from bot.github.repository import RepoClient
from bot.github.search import LONGEST_BODY
from bot.simulator import Simulator
from tests.github.conftest import REPO


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "Crash when saving a file", "x" * 20_000, labels=["bug"])
    sim.open_issue("acme/app", "bob", "Crash at start", "")
    sim.open_issue("acme/app", "carol", "Slow tooltips", "")


def test_a_lexical_search(client: RepoClient) -> None:
    page = client.search("repo:acme/app is:issue in:title crash")
    assert (page.total_count, page.incomplete, page.search_type, page.cached_at) == (2, False, "lexical", "")
    assert {(item.repo, item.number) for item in page.items} == {(REPO, 1), (REPO, 2)}
    first = next(item for item in page.items if item.number == 1)
    assert (first.labels, first.author.login, len(first.body)) == (("bug",), "alice", LONGEST_BODY)


def test_a_hybrid_search_says_how_it_searched(client: RepoClient) -> None:
    page = client.search("repo:acme/app is:issue crash while saving", hybrid=True)
    assert (page.search_type, page.fallback_reasons) == ("hybrid", ())
    fallen = client.search('repo:acme/app is:issue "crash at start"', hybrid=True)
    assert fallen.search_type == "lexical"
    assert "quoted_text" in fallen.fallback_reasons


def test_any_text_travels_as_it_is(client: RepoClient) -> None:
    page = client.search("repo:acme/app is:issue crash & # ? + % é 漢字")
    assert page.total_count == 0
