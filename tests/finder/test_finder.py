"""F1–F9 through the real client, over real HTTP, against the simulated GitHub."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from bot.domain.entities import RepoRef
from bot.domain.errors import InvalidArgument, NotFound
from bot.domain.report import Report, SearchOutcome
from bot.github.repository import RepoClient
from bot.github.search import SearchPage
from bot.search.finder import Finder, FinderSettings
from bot.search.ranking.relevance import CountedWords
from bot.simulator import Server, Simulator
from tests.served import emptied, reading, server

__all__ = ["server"]

REPO = RepoRef("acme", "app")
LEXICAL = FinderSettings(hybrid=False)


@pytest.fixture
def sim(server: Server) -> Iterator[Simulator]:
    """A fresh `acme/app`: an original, a relative, a stranger, a pull request with the original's title, the target."""
    with emptied(server) as sim:
        sim.add_repository("acme/app")
        sim.install("acme/app")
        sim.open_issue(
            "acme/app", "ann", "Crash on login behind a proxy", "panic: proxy refused the connection\nparse_url"
        )
        sim.open_issue("acme/app", "bob", "Login page: the logo is blurred", "It looks bad")
        sim.open_issue("acme/app", "cy", "Export writes an empty file", "Nothing is in it")
        sim.open_issue("acme/app", "dee", "Crash on login behind a proxy", "A fix", is_pull_request=True)
        sim.open_issue("acme/app", "eve", "Login crash with proxy", "panic: proxy refused the connection\nin parse_url")
        yield sim


@pytest.fixture
def client(server: Server, sim: Simulator) -> Iterator[RepoClient]:
    with reading(server, REPO) as client:
        yield client


Find = Callable[..., Report]


@pytest.fixture
def find(client: RepoClient) -> Find:
    def find(number: int = 5, *, settings: FinderSettings = LEXICAL, **options: Any) -> Report:
        return Finder(client, settings=settings).find_duplicates(
            **{"owner": "acme", "repo": "app", "number": number, **options}
        )

    return find


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("number", {"number": None}),
        ("number", {"number": 0}),
        ("number", {"number": True}),
        ("number", {"number": "5"}),
        ("threshold", {"threshold": -0.1}),
        ("threshold", {"threshold": 1.1}),
        ("threshold", {"threshold": float("nan")}),
        ("threshold", {"threshold": "0.3"}),
        ("threshold", {"threshold": None}),
        ("threshold", {"threshold": True}),
        # JSON, which a report becomes, has no such numbers.
        ("threshold", {"threshold": Fraction(1, 3)}),
        ("threshold", {"threshold": 10**400}),
        ("max_candidates", {"max_candidates": 0}),
        ("max_candidates", {"max_candidates": 2.5}),
        ("max_candidates", {"max_candidates": True}),
        ("include_closed", {"include_closed": "no"}),
        ("owner", {"owner": "ac me"}),
        ("owner", {"owner": 5}),
        ("repo", {"repo": "app x:y"}),
        ("state", {"state": "opened"}),
        ("relevance", {"relevance": "magic"}),
        ("min_confidence", {"min_confidence": 2}),
        ("min_confidence", {"min_confidence": "0.5"}),
    ],
)
def test_f1_a_wrong_argument_is_named(find: Find, argument: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        find(**options)
    assert caught.value.argument == argument


def test_f1_owner_and_repo_fall_back_to_configuration(client: RepoClient) -> None:
    report = Finder(client, settings=LEXICAL, default=REPO).find_duplicates(number=5)
    assert report.repo == "acme/app"
    places: list[dict[str, Any]] = [{}, {"owner": "acme"}, {"repo": "app"}]
    for place in places:
        with pytest.raises(InvalidArgument, match=r"owner|repo"):
            Finder(client).find_duplicates(**place, number=5)
    with pytest.raises(InvalidArgument):
        Finder(client).find_duplicates("acme", "app x:y", 5)


def test_f1_an_issue_that_does_not_exist_is_not_found(find: Find) -> None:
    with pytest.raises(NotFound):
        find(99)


@pytest.mark.parametrize(("repo", "count"), [(RepoRef("ACME", "App"), True), (RepoRef("acme", "other"), False)])
def test_f2_only_an_issue_of_the_same_repository_is_a_candidate(
    client: RepoClient, monkeypatch: pytest.MonkeyPatch, repo: RepoRef, count: bool
) -> None:
    search = client.search

    def elsewhere(query: str, **options: Any) -> SearchPage:
        page = search(query, **options)
        return replace(page, items=tuple(replace(issue, repo=repo) for issue in page.items))

    monkeypatch.setattr(client, "search", elsewhere)
    assert bool(Finder(client, settings=LEXICAL).find_duplicates("acme", "app", 5).candidates) is count


def test_f2_the_target_and_pull_requests_are_no_candidates(find: Find) -> None:
    report = find(threshold=0.0)
    assert report.outcome is SearchOutcome.FOUND
    assert report.candidates[0].number == 1
    assert not {4, 5} & {candidate.number for candidate in report.candidates}


def test_f2_sorted_cut_and_filtered_by_title_similarity(find: Find) -> None:
    every = find(threshold=0.0).candidates
    assert len(every) > 1
    assert [one.relevance for one in every] == sorted((one.relevance for one in every), reverse=True)
    assert find(threshold=0.0, max_candidates=1).candidates == every[:1]
    assert {one.number for one in find(threshold=0.5).candidates} == {
        one.number for one in every if one.similarity >= 0.5
    }


def test_f4_hostile_text_asks_nothing_else(find: Find, sim: Simulator) -> None:
    sim.open_issue(
        "acme/app", "mallory", 'login" OR repo:evil/repo -label:x (NOT', ") AND is:pr author:ann \u202e\0 in:comments"
    )
    report = find(6, threshold=0.0)
    assert report.outcome is SearchOutcome.FOUND
    for run in report.queries:
        assert run.hits is not None
        assert run.query.startswith("repo:acme/app is:issue is:open in:")
        assert run.query.count(":") == 4
        assert not set(run.query) & set('"-\u202e\0')


def test_f7_the_report_serialises_with_the_workflow_state(find: Find, sim: Simulator) -> None:
    sim.set_permissions("acme", {"issues": "write", "metadata": "read", "organization_projects": "read"})
    project = sim.add_project("acme", "Board", {"Status": ["Todo", "Done"]})
    sim.set_status(project, "acme/app", 1, "Done")
    data = json.loads(json.dumps(find().to_json()))
    assert data["issue"]["number"] == 5
    assert data["issue"]["title"] == "Login crash with proxy"
    first = data["candidates"][0]
    assert (first["number"], first["workflow_state"], first["state"]) == (1, "Done", "open")
    assert first["url"].endswith("/acme/app/issues/1")
    assert {"similarity", "title_ratio", "labels", "confidence"} <= set(first)
    assert data["candidate_count"] == len(data["candidates"])
    assert data["search_query"].startswith("repo:acme/app")


def test_f8_the_words_of_a_repository_are_learned_before_anything_is_asked(client: RepoClient) -> None:
    words = CountedWords()
    Finder(client, settings=LEXICAL, word_stats=words).find_duplicates("acme", "app", 5)
    assert words.total() == 4, "the issues, without the pull request"


def test_f8_an_issue_that_nobody_asks_about_is_not_taken_for_all_of_its_repository(
    client: RepoClient, sim: Simulator
) -> None:
    """As where a bot's issue is the first that comes, or GitHub does not list the others just then."""
    words = CountedWords()
    finder, issue = Finder(client, settings=LEXICAL, word_stats=words), client.issue(REPO, 5)
    sim.faults.add("GET /repos/acme/app/issues", 403)
    finder.notice(issue)
    assert words.total() == 0
    finder.notice(issue)
    assert words.total() == 4


def test_f9_no_usable_words_is_inconclusive(find: Find, sim: Simulator) -> None:
    sim.open_issue("acme/app", "fay", "it is not", "...")
    report = find(6)
    assert (report.outcome, report.queries, report.search_query) == (SearchOutcome.INCONCLUSIVE, (), "")
    # Nor is the search by meaning asked what stop words mean.
    report = find(6, settings=FinderSettings())
    assert (report.outcome, report.queries, report.search_query) == (SearchOutcome.INCONCLUSIVE, (), "")


def test_f9_incomplete_results_without_a_candidate_are_inconclusive(find: Find, sim: Simulator) -> None:
    sim.open_issue("acme/app", "fay", "Zebra quagga okapi", "")
    sim.faults.add("/search/issues", "incomplete_results", times=None)
    assert find(6).outcome is SearchOutcome.INCONCLUSIVE
    found = find(5)
    assert found.outcome is SearchOutcome.FOUND
    assert all(run.incomplete for run in found.queries)


def test_f9_a_failing_source_is_degraded_and_named_and_the_other_answers(find: Find, sim: Simulator) -> None:
    sim.faults.add("/search/issues", "secondary_limit", times=1)
    report = find()
    assert report.outcome is SearchOutcome.DEGRADED
    assert str(report.problems[0]).startswith("github-search: ")
    assert report.candidates == ()
    sim.clock.advance(600)
    sim.faults.add("/search/issues", 502, times=None)
    report = find(settings=FinderSettings())
    assert report.outcome is SearchOutcome.DEGRADED
    assert {problem.source for problem in report.problems} == {"github-search", "github-hybrid"}


def test_c4_own_words_replace_the_plan(find: Find) -> None:
    report = find(threshold=0.0, words="empty export")
    assert report.search_query == "repo:acme/app is:issue is:open in:title,body empty export"
    assert [candidate.number for candidate in report.candidates] == [3]
    assert find(words="...").outcome is SearchOutcome.INCONCLUSIVE


def test_f7_a_candidate_says_whether_the_issues_own_text_names_it(find: Find, sim: Simulator) -> None:
    for text in ("panic: proxy refused the connection", "panic: proxy refused the connection, as in #1"):
        sim.open_issue("acme/app", "zoe", "Login crash with proxy", text)
    sim.flush_index()
    assert [next(one.named for one in find(number).candidates if one.number == 1) for number in (6, 7)] == [False, True]
