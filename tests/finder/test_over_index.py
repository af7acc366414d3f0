"""The finder over a repository's index: local sources fused with GitHub's, groups resolved, and honest outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from bot.conversation.config.schema import SourceConfig
from bot.domain.entities import Issue, RepoRef
from bot.domain.report import SearchOutcome
from bot.search.finder import MOST_COMPARED, Finder, FinderSettings, FindOptions
from bot.search.finder.unindexed import TemporaryIndexes
from bot.search.matching import Matcher
from bot.search.ranking.relevance import Relevance
from bot.search.sources import SearchRequest, SourceResult
from bot.search.sources.federated import only_sources
from tests.finder.conftest import LOCAL, REPO_ID, SUBJECTS, TARGET, Bench, Silent, numbers, opened


def test_h1_h2_local_sources_answer_with_reasons_and_names(bench: Bench) -> None:
    report = bench.find()
    assert report.outcome is SearchOutcome.FOUND
    assert set(numbers(report)[:3]) == {2, 3, 6}
    first = report.candidates[0]
    assert first.sources == LOCAL
    assert first.reasons
    assert first.url.endswith(f"/issues/{first.number}")
    assert first.confidence is not None
    assert [run.source for run in report.queries] == list(LOCAL)
    # To measure by, the same without the reasons.
    bare = bench.find(explained=False)
    assert bare.candidates == tuple(replace(one, reasons=()) for one in report.candidates)
    assert report.search_query == report.queries[0].query
    assert report.counts["unique"] <= len(SUBJECTS)
    assert report.counts["total"] == report.counts["unique"] + report.counts["duplicates"]
    assert report.best_confidence == max(one.confidence or 0 for one in report.candidates)


def test_h2_what_github_found_too_is_one_result_with_every_source(bench: Bench) -> None:
    report = bench.find(*LOCAL, "github-search")
    names = {one.number: one.sources for one in report.candidates}
    assert names[2] == (*LOCAL, "github-search")
    assert len(names) == len(report.candidates)
    assert report.search_query.startswith("repo:replay/replay is:issue in:title")


def test_f9_an_index_that_has_answered_with_nothing_is_none(bench: Bench) -> None:
    assert bench.find(min_confidence=1.0).outcome is SearchOutcome.NONE
    for number in range(1, 7):
        bench.index.remove(REPO_ID, [number])
    report = bench.find()
    assert (report.outcome, report.candidates) == (SearchOutcome.NONE, ())


def test_f9_vectors_that_fail_are_degraded_and_full_text_goes_on(bench: Bench, url: str) -> None:
    with opened(url, Silent()) as index:
        report = bench.find(matcher=Matcher(index))
        assert report.outcome is SearchOutcome.DEGRADED
        assert str(report.problems[0]).startswith("vectors: the model could not be loaded")
        assert set(numbers(report)[:3]) == {2, 3, 6}
        assert {one.sources for one in report.candidates} == {("full-text",)}
        # A source that is switched off cannot fail.
        assert bench.find("full-text", matcher=Matcher(index)).outcome is SearchOutcome.FOUND
    with opened(url, None) as index:
        assert bench.find(matcher=Matcher(index)).outcome is SearchOutcome.FOUND


def test_h4_settings_switch_limit_and_filter_local_sources(bench: Bench) -> None:
    assert {one.sources for one in bench.find("vectors").candidates} == {("vectors",)}
    settings = FinderSettings(sources=only_sources() | {"full-text": SourceConfig(limit=2)})
    finder = Finder(bench.github, settings=settings, matcher=Matcher(bench.index), repo_id=REPO_ID)
    assert finder.find(bench.target, FindOptions(threshold=0, state="all")).counts["full-text"] == 2
    assert all("vectors" in one.sources for one in bench.find().of_sources(["vectors"]).candidates)


@pytest.mark.parametrize("by", [one.value for one in Relevance])
def test_h5_the_same_results_by_every_function(bench: Bench, by: str) -> None:
    report = bench.find(relevance=by)
    assert set(numbers(report)) == set(numbers(bench.find()))
    values = [one.relevance for one in report.candidates]
    assert values == sorted(values, reverse=True)
    if by.startswith("bm25"):
        assert set(numbers(report)[:2]) <= {2, 3, 6}
        assert values[0] > 0


WORDS = [
    "markers",
    "tile",
    "requests",
    "answered",
    "with",
    "403",
    "map",
    "grey",
    "see",
    "asked",
    "proxy",
    "cache",
    "zoom",
    "layer",
]


def many(bench: Bench) -> list[int]:
    """More issues than are read from the index where the learned order decides; all that are found, in that order."""
    made = []
    for n in range(240):
        body = " ".join(WORDS[n * at % len(WORDS)] for at in range(1, 3 + n % 9))
        made.append(bench.arrive(f"{WORDS[n % 7]} {WORDS[n % 5]} {n}", body).number)
    bench.put(*made)
    return numbers(bench.find(max_candidates=200))


class Elsewhere:
    """A sibling repository with one issue, which says what the target says."""

    name = "siblings"

    def __init__(self, issue: Issue) -> None:
        self._issue = replace(issue, repo=RepoRef("acme", "elsewhere"), title="Tiles", body=TARGET[1])

    def ask(self, question: SearchRequest) -> SourceResult:
        return SourceResult(self.name, ((self._issue,),))


def test_h5_an_issue_of_another_repository_is_read_by_its_own_text_though_its_number_is_one_of_here(
    bench: Bench,
) -> None:
    values = []
    for number in (99, 1):
        further = [Elsewhere(replace(bench.issues[0], number=number))]
        report = bench.find("known-issues", "siblings", further=further, relevance="bm25", known=(1,))
        values += [one.relevance for one in report.candidates if one.repo]
    assert values[0] == values[1] > 0


@pytest.mark.slow
def test_h5_every_function_sees_all_that_was_found_and_not_what_another_likes_best(bench: Bench) -> None:
    learned = many(bench)
    for by in (one.value for one in Relevance if one is not Relevance.LEARNED):
        best = numbers(bench.find(relevance=by, max_candidates=200))[:16]
        assert max(map(learned.index, best)) >= 50, "else there is nothing to lose"
        assert numbers(bench.find(relevance=by, max_candidates=16)) == best


@pytest.mark.slow
def test_h5_those_that_are_asked_for_are_seen_behind_all_that_are_not(bench: Bench) -> None:
    learned = many(bench)
    alike = bench.find(relevance="title", max_candidates=200).candidates[29].similarity
    assert len(numbers(bench.find(threshold=alike, max_candidates=16))) == 16
    bench.put(*learned[:60], state="closed", reason="completed")
    assert len(numbers(bench.find(state="open", max_candidates=16))) == 16


def test_more_than_is_compared_is_cut_by_the_fused_ranks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.search.finder.scoring.MOST_COMPARED", 3)
    report = bench.find("full-text", "github-search", "known-issues", known=(5,))
    assert 5 in numbers(report)
    assert len(numbers(report)) <= 4
    assert MOST_COMPARED == 200


def test_what_the_index_alone_has_found_is_compared_where_there_is_too_much(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = numbers(bench.find("full-text"))[:2]
    monkeypatch.setattr("bot.search.finder.scoring.MOST_COMPARED", 2)
    assert set(numbers(bench.find("full-text"))) == set(best)


def test_what_is_cut_is_not_judged_elsewhere_instead(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ranks too low to be compared is in the index all the same: GitHub's search has found nothing new in it."""
    asked = ("full-text", "github-search")
    all_of_them = {one.number: one.confidence for one in bench.find(*asked).candidates}
    monkeypatch.setattr("bot.search.finder.scoring.MOST_COMPARED", 2)
    found = {one.number: one.confidence for one in bench.find(*asked).candidates}
    assert len(all_of_them) > len(found) == 2
    assert found == {number: all_of_them[number] for number in found}


def test_no_connection_to_the_database_waits_for_github(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server ends one that does nothing for a minute, and SQLite's log grows as long as somebody reads."""
    real, held = bench.github.workflow_states, []

    def look_around(*asked: Any) -> Any:
        pool = bench.index._engine.pool
        assert isinstance(pool, sa.QueuePool)
        held.append(pool.checkedout())
        return real(*asked)

    monkeypatch.setattr(bench.github, "workflow_states", look_around)
    assert bench.find().candidates
    assert held == [0]


def test_p2_an_issue_that_the_index_does_not_hold_is_compared_with_what_it_holds_and_github_is_not_asked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []

    def look_around(repo_id: int) -> tuple[str, ...]:
        pool = bench.index._engine.pool
        assert isinstance(pool, sa.QueuePool)
        held.append(pool.checkedout())
        return ()

    monkeypatch.setattr(bench.index.about, "form_lines", look_around)
    monkeypatch.setattr(bench.index, "latest", None)
    monkeypatch.setattr(bench.github, "recent_issues", None)
    finder = Finder(
        bench.github, matcher=Matcher(bench.index), repo_id=REPO_ID, temporary=TemporaryIndexes(bench.index)
    )
    near, far = (finder.compare(bench.target, replace(bench.issues[place], number=900 + place)) for place in (1, 4))
    assert (near.confidence or 0) > (far.confidence or 0)
    assert near.reasons
    # A thread that holds a connection and waits for another one can wait for threads that do the same.
    assert set(held) == {0}
