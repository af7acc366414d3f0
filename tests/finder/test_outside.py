"""P2: what no index holds is judged by the model that judges what one holds."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from bot.domain.entities import Issue, RepoRef
from bot.domain.errors import Unavailable
from bot.domain.judge_protocol import JudgeAnswer, JudgedPair, JudgeVerdict
from bot.domain.report import Report
from bot.search.embedding import Embedder
from bot.search.embedding.local_models import SentenceModel, fast_model
from bot.search.embedding.remote import RemoteModel
from bot.search.finder import Finder, FinderSettings, FindOptions, TemporaryIndexes
from bot.search.finder.results import RankedResult
from bot.search.finder.scoring import Judge, ScoredIssue, with_opinion
from bot.search.index import IndexedIssue
from bot.search.ranking.relevance import Relevance
from bot.search.sources import SearchRequest, SourceResult
from bot.search.sources.federated import RecentIssuesCache, only_sources
from tests.finder.conftest import REPO_ID, SUBJECTS, Bench, Silent
from tests.index.conftest import HashingModel

SEARCH, ALL = only_sources("github-search"), FindOptions(threshold=0.0, state="all")
ELSEWHERE = RepoRef("acme", "lib")


class Given:
    """A source that found these, whatever was asked."""

    def __init__(self, name: str, *issues: Issue) -> None:
        self.name, self._issues = name, issues

    def ask(self, question: SearchRequest) -> SourceResult:
        return SourceResult(self.name, (self._issues,))


def searched(bench: Bench, outside: TemporaryIndexes | None = None, **options: object) -> Report:
    """What GitHub's search alone finds, judged."""
    finder = Finder(
        bench.github,
        settings=FinderSettings(sources=SEARCH),
        temporary=outside or TemporaryIndexes(embedder=HashingModel(), text_model=None),
        **options,  # type: ignore[arg-type]
    )
    return finder.find(bench.target, ALL)


def confidences(report: Report) -> dict[int, float]:
    return {one.number: one.confidence or 0 for one in report.candidates}


def test_p2_a_hit_is_as_likely_as_it_were_in_the_index_and_for_the_same_reasons(bench: Bench) -> None:
    inside, outside = bench.find(), searched(bench)
    assert set(confidences(outside)) == {2, 3, 6}
    for number, likely in confidences(outside).items():
        assert likely == pytest.approx(confidences(inside)[number], abs=0.01)
    told = {one.number: one.reasons for one in inside.candidates}
    assert all(one.reasons == told[one.number] != () for one in outside.candidates)


def test_p2_what_is_common_in_the_repository_is_told_by_its_other_issues(bench: Bench) -> None:
    """By its hits alone a question's every word would be as common as any other."""
    rare = searched(bench, TemporaryIndexes(bench.index), repo_id=REPO_ID)
    assert any("tile" in str(reason) for one in rare.candidates for reason in one.reasons)
    texts = ((n, f"Markers {n}", f"All tile requests of server{n} are answered with 403") for n in range(100, 250))
    bench.index.put(
        REPO_ID, [IndexedIssue.of(replace(bench.target, number=n, title=title, body=body)) for n, title, body in texts]
    )
    common = searched(bench, TemporaryIndexes(bench.index), repo_id=REPO_ID)
    assert not any("tile" in str(reason) for one in common.candidates for reason in one.reasons)


def test_p2_an_index_that_is_being_filled_is_enough_to_know_a_repository_by(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, asked = TemporaryIndexes(bench.index), 0
    real = bench.github.recent_issues

    def recent(repo: RepoRef, limit: int) -> list[Issue]:
        nonlocal asked
        asked += 1
        return real(repo, limit)

    monkeypatch.setattr(bench.github, "recent_issues", recent)
    assert len(outside.background(RecentIssuesCache(bench.github), bench.target, REPO_ID)) == 7
    assert asked == 1
    bench.index.put(
        REPO_ID, [IndexedIssue.of(replace(bench.target, number=n, title=f"It is {n}")) for n in range(100, 200)]
    )
    assert len(outside.background(RecentIssuesCache(bench.github), bench.target, REPO_ID)) == 106
    assert asked == 1


def test_p2_where_the_repositorys_issues_cannot_be_read_hits_are_judged_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recent(repo: RepoRef, limit: int) -> list[Issue]:
        raise Unavailable("it does not answer")

    monkeypatch.setattr(bench.github, "recent_issues", recent)
    assert set(confidences(searched(bench))) == {2, 3, 6}


def test_p2_a_model_that_fails_costs_the_vectors(bench: Bench) -> None:
    assert set(confidences(searched(bench, TemporaryIndexes(embedder=Silent())))) == {2, 3, 6}


def test_p2_what_has_the_same_number_is_not_mixed_up(bench: Bench) -> None:
    """Repositories count for themselves; a repository's discussions and issues have one row of numbers."""
    copy = replace(bench.issues[1], repo=ELSEWHERE, number=3, title="Grey map, said elsewhere")
    target_s_number = replace(bench.issues[4], repo=ELSEWHERE, number=bench.target.number)
    settings = FinderSettings(sources=only_sources("github-search", "siblings"))
    finder = Finder(
        bench.github,
        settings=settings,
        temporary=TemporaryIndexes(embedder=HashingModel()),
        further=[Given("siblings", copy, target_s_number)],
    )
    found = {(one.repo, one.number): one for one in finder.find(bench.target, ALL).candidates}
    assert found["acme/lib", 3].title == "Grey map, said elsewhere"
    assert found["acme/lib", 3].sources == ("siblings",)
    assert found["", 3].title == "Grey map without tiles"
    assert found["", 3].sources == ("github-search",)
    unlike = found["acme/lib", bench.target.number]
    assert unlike.title == SUBJECTS[4][0]
    other = RankedResult(copy, 0.3, 0.3), ScoredIssue(copy, 0.3, (), tuple)
    said = JudgeAnswer({3: JudgedPair(JudgeVerdict.SAME)})
    assert with_opinion([other], bench.target, cast("Judge", None), said, Relevance.LEARNED) == [other]
    assert (unlike.confidence or 0) < min(found[key].confidence or 0 for key in (("acme/lib", 3), ("", 3)))


def test_p2_the_size_of_a_repository_is_that_of_its_issues(bench: Bench) -> None:
    """Not the number of those that the search has found, nor of its pull requests too, which its numbers count."""

    def surest(number: int, issues: int | None = None) -> float:
        bench.target = replace(bench.target, number=number)
        return max(confidences(searched(bench, issues=issues)).values())

    assert surest(20_000) != surest(301)
    assert surest(20_000, 300) == surest(301)
    assert surest(301, 20_000) == surest(301)


@pytest.mark.parametrize(
    ("model", "kept"),
    [
        (None, True),
        (HashingModel(), True),
        (RemoteModel("https://example.org", "big", "key"), False),
        (SentenceModel("all-MiniLM-L6-v2"), False),
    ],
)
def test_c6a_what_is_judged_once_is_given_to_no_endpoint(model: Embedder | None, kept: bool) -> None:
    used = fast_model(model)
    assert (used is model) is kept
    assert used is None or not used.remote
