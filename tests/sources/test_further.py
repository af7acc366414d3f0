"""H6: pull requests, discussions and known issues, through the real client against the simulated GitHub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from bot.conversation.config.parser import parse_config
from bot.conversation.config.schema import SourceConfig
from bot.domain.entities import RepoRef
from bot.domain.report import Report, SearchOutcome
from bot.github.repository import RepoClient
from bot.search.finder import Finder, FinderSettings
from bot.search.finder.options import finder_settings, further_sources
from bot.search.sources.federated import FULL_TEXT, SOURCE_NAMES, VECTORS, only_sources
from bot.search.sources.github import Discussions
from bot.simulator import Server, Simulator
from tests.served import emptied, reading, server

pytestmark = pytest.mark.slow

__all__ = ["server"]

REPO = RepoRef("acme", "app")


@pytest.fixture
def sim(server: Server) -> Iterator[Simulator]:
    with emptied(server) as sim:
        sim.add_repository("acme/app")
        sim.install("acme/app")
        sim.open_issue("acme/app", "ann", "Crash on login behind a proxy", "panic: proxy refused the connection")
        sim.open_issue("acme/app", "bob", "Mend the login crash behind a proxy", "A fix", is_pull_request=True)
        sim.merge_pull_request("acme/app", 2)
        sim.start_discussion("acme/app", "cy", "Login crash: what works?", "How do you log in?")
        sim.open_issue("acme/app", "eve", "Login crash with proxy", "panic: proxy refused the connection")
        yield sim


@pytest.fixture
def client(server: Server, sim: Simulator) -> Iterator[RepoClient]:
    with reading(server, REPO) as client:
        yield client


Find = Callable[..., Report]


@pytest.fixture
def find(client: RepoClient) -> Find:
    def find(*names: str, sources: dict[str, SourceConfig] | None = None, **options: Any) -> Report:
        settings = FinderSettings(
            sources=only_sources(*names) | (sources or {}),
            known_issues=options.pop("known", ()),
            budget=options.pop("budget", 4),
        )
        finder = Finder(client, settings=settings, further=[Discussions(client)])
        return finder.find_duplicates("acme", "app", 4, 0.0, 10, True, **options)

    return find


def test_h6_pull_requests_are_found_with_their_state(find: Find) -> None:
    report = find("pull-requests")
    (one,) = report.candidates
    assert (one.number, one.kind, one.state_reason, one.sources) == (2, "pull request", "merged", ("pull-requests",))
    assert (one.own, one.regression) == (False, False)
    assert [run.query for run in report.queries] == ["repo:acme/app is:pr in:title (Login OR crash OR proxy)"]


def test_f8_further_searches_share_the_budget(find: Find) -> None:
    report = find("github-search", "pull-requests", budget=3)
    assert [run.source for run in report.queries] == ["github-search"] * 2 + ["pull-requests"]
    assert [one.kind for one in report.candidates if one.number == 2] == ["pull request"]
    # Each that is on is asked, as docs/repository-settings.md says.
    report = find("github-search", "pull-requests", budget=1)
    assert [run.source for run in report.queries] == ["github-search", "pull-requests"]


def test_h6_discussions_need_a_permission_and_say_so(find: Find, sim: Simulator) -> None:
    report = find("discussions")
    assert (report.outcome, report.failed) == (SearchOutcome.INCONCLUSIVE, ()), "no outage, and no answer"
    assert find("discussions", "github-search").outcome is SearchOutcome.FOUND
    assert tuple(map(str, report.problems)) == ("discussions: the App lacks the permission to read discussions",)
    sim.set_permissions("acme", {"issues": "write", "metadata": "read", "discussions": "read"})
    sim.clock.advance(4000)
    report = find("discussions")
    assert report.problems == ()
    (one,) = report.candidates
    assert (one.number, one.kind, one.sources) == (3, "discussion", ("discussions",))
    assert one.url.endswith("/acme/app/discussions/3")


def test_h3_a_discussion_that_may_not_be_named_hides_none_that_says_the_same(find: Find, sim: Simulator) -> None:
    sim.set_permissions("acme", {"issues": "write", "metadata": "read", "discussions": "read"})
    sim.start_discussion("acme/app", "dan", "Login crash: what works?", "How do you log in?")
    (one,) = find("discussions").candidates
    (other,) = find("discussions", rejected={one.number}).candidates
    assert {one.number, other.number} == {3, 5}
    # That one was started after the issue.
    assert [one.number for one in find("discussions", earlier_only=True).candidates] == [3]


def test_h1_discussions_that_github_brings_count_although_it_failed_for_others(find: Find, sim: Simulator) -> None:
    sim.set_permissions("acme", {"issues": "write", "metadata": "read", "discussions": "read"})
    sim.faults.add("POST /graphql", "graphql_error")
    report = find("discussions")
    assert [one.number for one in report.candidates] == [3]
    assert report.outcome is SearchOutcome.DEGRADED
    assert tuple(map(str, report.problems)) == (
        "discussions: GitHub answered: Something went wrong while executing your query.",
    )
    assert 1 in [run.hits for run in report.queries]


def test_f8_a_discussion_is_found_although_the_rarest_word_is_the_issues_own(find: Find, sim: Simulator) -> None:
    sim.set_permissions("acme", {"issues": "write", "metadata": "read", "discussions": "read"})
    sim.edit_issue("acme/app", 4, title="Zypern login crash")
    report = find("discussions")
    assert [one.number for one in report.candidates] == [3]
    asked = {run.query: run.hits for run in report.queries}
    assert len(asked) == 3
    assert sorted(hits or 0 for hits in asked.values()) == [0, 0, 1]
    assert all(len(query.split()) == 2 for query in asked)


def test_h6_known_issues_are_considered_whatever_is_found(find: Find, sim: Simulator) -> None:
    far = sim.open_issue("acme/app", "zoe", "Zebra quagga okapi", "")
    report = find("known-issues", known=(1, far.number, 4, 99))
    assert {one.number for one in report.candidates} == {1, far.number}
    assert [(run.query, run.hits, str(run.problem)) for run in report.queries] == [("#1 #5 #99", 2, "1 not found")]
    assert report.outcome is SearchOutcome.FOUND


def test_h6_known_issues_that_are_too_many_to_read_one_by_one_are_told(find: Find) -> None:
    report = find("known-issues", known=(1, *range(5, 31)))
    (run,) = report.queries
    assert (run.hits, str(run.problem)) == (1, "19 not found, 7 more are considered when the index is ready")


def test_h2_h4_results_of_several_sources_are_one_and_are_counted(find: Find) -> None:
    report = find("github-search", "known-issues", "pull-requests", known=(1,))
    first = report.candidates[0]
    assert (first.number, first.sources) == (1, ("github-search", "known-issues"))
    counts = report.counts
    assert counts["unique"] == 2
    assert counts["total"] - counts["duplicates"] == counts["unique"]
    assert (counts["github-search"], counts["known-issues"], counts["pull-requests"]) == (1, 1, 1)
    only_pulls = report.of_sources(["pull-requests"])
    assert [one.number for one in only_pulls.candidates] == [2]
    assert {run.source for run in only_pulls.queries} == {"pull-requests"}


def test_h6_every_source_that_settings_can_switch_on_is_asked(client: RepoClient, sim: Simulator) -> None:
    """One that is in the table of settings and that nobody builds would never be asked, without a word."""
    sim.add_repository("acme/lib")
    sim.set_similarity("acme/app", "ranked")
    config, _ = parse_config("siblings: [acme/lib]\nknown_issues: [1]")
    settings = replace(finder_settings(config), sources=only_sources(*SOURCE_NAMES))
    report = Finder(client, settings=settings, further=further_sources(config, client, ())).find_duplicates(
        "acme", "app", 4, 0.0, 10, True
    )
    # Those two are asked of an index.
    assert {run.source for run in report.queries} == set(SOURCE_NAMES) - {FULL_TEXT, VECTORS}
