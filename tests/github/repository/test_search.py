"""F8: one search, lexical or hybrid, with everything that GitHub says about it."""

from __future__ import annotations

import pytest

from bot.errors import Invalid
from bot.github.repository.repo import RepoClient
from bot.github.repository.search import LONGEST_BODY
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


def test_a_page_can_be_short(client: RepoClient) -> None:
    page = client.search("repo:acme/app is:issue crash", per_page=1)
    assert (page.total_count, len(page.items)) == (2, 1)


def test_a_hybrid_search_says_how_it_searched(client: RepoClient) -> None:
    page = client.search("repo:acme/app is:issue crash while saving", hybrid=True)
    assert (page.search_type, page.fallback_reasons) == ("hybrid", ())
    fallen = client.search('repo:acme/app is:issue "crash at start"', hybrid=True)
    assert fallen.search_type == "lexical"
    assert "quoted_text" in fallen.fallback_reasons


def test_f9_incomplete_results_are_not_hidden(client: RepoClient, sim: Simulator) -> None:
    sim.faults.add("GET /search/issues", "incomplete_results")
    assert client.search("repo:acme/app is:issue crash").incomplete


def test_githubs_refusal_is_explained(client: RepoClient) -> None:
    with pytest.raises(Invalid, match="search issues: 422 Validation Failed"):
        client.search("repo:acme/app is:issue " + "word " * 80)


def test_any_text_travels_as_it_is(client: RepoClient) -> None:
    page = client.search("repo:acme/app is:issue crash & # ? + % é 漢字")
    assert page.total_count == 0
