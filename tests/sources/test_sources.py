"""H: sources asked side by side, each on its own, and their hits merged. The search engine is the simulator's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.domain.entities import Issue, Likeness, RepoRef
from bot.domain.errors import Forbidden, Invalid, RateLimited, RemarkCode, SourceProblem, remark_from
from bot.domain.report import QueryRun
from bot.github.search import SearchPage, SimilarIssues
from bot.quality.replay.archive import PastIssue
from bot.quality.replay.replay import ReplayGitHub
from bot.search.ranking.plan import Plan
from bot.search.ranking.relevance import CountedWords
from bot.search.sources import SearchRequest, Source, SourceResult, ask_all, merge_results
from bot.search.sources.federated import Gathered, RecentIssuesCache, ensure_word_stats
from bot.search.sources.github import GitHubHybrid, GitHubLexical, GitHubSimilar, PullRequests
from tests.waiting import LONGEST

NOW = datetime(2024, 1, 1, tzinfo=UTC)
IN_TITLE = "repo:replay/replay is:issue in:title"
EITHER = "repo:replay/replay is:issue in:title (login OR proxy)"


class Server(ReplayGitHub):
    """The search engine, with a failure where `fails` returns one for a query."""

    def __init__(self, fails: Callable[[str], Exception | None] = lambda query: None) -> None:
        super().__init__()
        self.asked: list[str] = []
        self._fails = fails
        for title in ("crash on login", "proxy refused", "login behind a proxy"):
            self.last = self.arrive(PastIssue(title, title, "", NOW, None, "alice", ()))

    def search(self, query: str, *, hybrid: bool = False) -> SearchPage:
        self.asked.append(query)
        if failure := self._fails(query):
            raise failure
        return super().search(query, hybrid=hybrid)

    def question(self, *queries: str, fallback: tuple[str, ...] = (), natural: str = "") -> SearchRequest:
        return SearchRequest(self.last, Plan(queries, fallback), natural)


def numbers(found: tuple[Issue, ...]) -> set[int]:
    return {issue.number for issue in found}


def test_f8_every_query_is_reported_with_its_hit_count() -> None:
    server = Server()
    answer = GitHubLexical(server).ask(server.question(f"{IN_TITLE} login", EITHER))
    assert [(run.source, run.query, run.hits) for run in answer.runs] == [
        ("github-search", f"{IN_TITLE} login", 2),
        ("github-search", EITHER, 3),
    ]
    assert [numbers(found) for found in answer.lists] == [{1, 3}, {1, 2, 3}]
    assert answer.problems == ()


def test_f8_a_server_that_refuses_or_is_asked_for_pairs_within_the_same_budget() -> None:
    server = Server(lambda query: Invalid("search", 422, "no OR here") if " OR " in query else None)
    question = server.question(
        f"{IN_TITLE} login", EITHER, EITHER + " ", fallback=(f"{IN_TITLE} login proxy", f"{IN_TITLE} proxy", "x")
    )
    answer = GitHubLexical(server).ask(question)
    assert server.asked == [f"{IN_TITLE} login", EITHER, f"{IN_TITLE} login proxy"]
    assert answer.runs[1].hits is None
    assert "no OR here" in str(answer.runs[1].problem)
    assert answer.problems == ()
    assert [numbers(found) for found in answer.lists] == [{1, 3}, {3}]


def test_f8_where_or_is_refused_pull_requests_are_asked_for_by_the_two_rarest_words() -> None:
    server = Server(lambda query: Invalid("search", 422, "no OR here") if " OR " in query else None)
    question = SearchRequest(server.last, Plan((), words=("proxy", "login", "behind")), "")
    PullRequests(server).ask(question)
    assert server.asked == [
        "repo:replay/replay is:pr in:title (proxy OR login OR behind)",
        "repo:replay/replay is:pr in:title proxy login",
    ]


def test_the_hybrid_search_is_one_request_and_a_fall_back_is_no_failure() -> None:
    server = Server()
    query = "repo:replay/replay is:issue login"
    answer = GitHubHybrid(server).ask(server.question(natural=query))
    assert (answer.runs[0].query, answer.problems, server.asked) == (query, (), [query])
    assert 1 in numbers(answer.lists[0])
    fallen = GitHubHybrid(server).ask(server.question(natural=f"{query} OR proxy"))
    assert fallen.runs[0].problem == RemarkCode.BY_WORDS.of("or_boolean_not_supported")
    assert fallen.problems == ()
    assert GitHubHybrid(server).ask(server.question()) == SourceResult("github-hybrid")


@pytest.mark.parametrize(
    ("failure", "later"), [(RateLimited("ten a minute"), True), (Forbidden("search", 403, "no"), False)]
)
@pytest.mark.parametrize("source", [GitHubLexical, GitHubHybrid])
def test_f9_what_a_limit_kept_from_being_asked_may_be_asked_later(
    source: type[GitHubLexical | GitHubHybrid], failure: Exception, later: bool
) -> None:
    server = Server(lambda query: failure)
    answer = source(server).ask(server.question("login", natural="login"))
    run = QueryRun(source.name, "login", None, problem=remark_from(failure), later=later)
    assert answer == SourceResult(source.name, (), (run,), (SourceProblem(source.name, remark_from(failure)),))


class Broken:
    name = "broken"

    def ask(self, question: SearchRequest) -> SourceResult:
        raise RuntimeError(question.target.title)


class Meeting:
    """Answers only once another one is being asked at the same time."""

    def __init__(self, name: str, barrier: threading.Barrier, *found: Issue) -> None:
        self.name = name
        self._barrier = barrier
        self._found = found

    def ask(self, question: SearchRequest) -> SourceResult:
        self._barrier.wait(LONGEST)
        return SourceResult(self.name, (self._found,))


def test_h1_sources_run_side_by_side_and_one_that_breaks_spoils_nothing() -> None:
    server, barrier = Server(), threading.Barrier(2)
    sources: list[Source] = [Meeting("one", barrier), Broken(), Meeting("two", barrier)]
    answers = ask_all(sources, server.question())
    assert [answer.source for answer in answers] == ["one", "broken", "two"]
    assert [answer.problems for answer in answers] == [(), (SourceProblem("broken", RemarkCode.FAILED.of()),), ()]
    assert ask_all([], server.question()) == []


def test_a_source_that_breaks_is_logged_without_what_its_fault_quotes(caplog: pytest.LogCaptureFixture) -> None:
    question = Server().question()
    ask_all([Broken()], question)
    assert "source broken failed: RuntimeError\n" in caplog.text
    assert "in ask" in caplog.text
    assert question.target.title
    assert question.target.title not in caplog.text


def test_first_contact_counts_the_words_of_recent_issues_once() -> None:
    server, words = Server(), CountedWords()
    ensure_word_stats(RecentIssuesCache(server), words, server.last.repo)
    assert words.total() == 3
    assert words.counts(["login", "proxi"]) == {"login": 2, "proxi": 2}
    server.arrive(PastIssue(4, "another", "", NOW, None, "alice", ()))
    ensure_word_stats(RecentIssuesCache(server), words, server.last.repo)
    assert words.total() == 3


@pytest.mark.slow
def test_f8b_what_is_late_is_left_behind_and_told_and_the_others_count() -> None:
    server, held = Server(), threading.Event()

    class Late:
        name = "siblings"

        def ask(self, question: SearchRequest) -> SourceResult:
            held.wait()
            return SourceResult(self.name)

    class Quick:
        name = "discussions"

        def ask(self, question: SearchRequest) -> SourceResult:
            return SourceResult(self.name, ((question.target,),))

    try:
        # The quick one has time enough on any machine; the late one answers only when this is over.
        late, answered = ask_all([Late(), Quick()], server.question(), within=2.0)
        (alone,) = ask_all([Late()], server.question(), within=0.0)
    finally:
        held.set()
    assert late == SourceResult("siblings", problems=(SourceProblem("siblings", RemarkCode.TOO_LATE.of(2)),))
    assert tuple(map(str, alone.problems)) == ("siblings: no answer within 0 seconds",)
    assert answered.lists == ((server.last,),)


class Ranking(Server):
    """GitHub's ranking of the first two issues, the second one closed; or none."""

    enabled = True

    def similar_issues(self, repo: RepoRef, number: int) -> SimilarIssues:
        first, second = (self.issue(repo, one) for one in (1, 2))
        closed = replace(second, state="closed")
        items = ((closed, Likeness(1.93, "high", True)), (first, Likeness(None, "low", False)))
        return SimilarIssues(items if self.enabled else (), self.enabled)


def test_f8a_what_github_says_of_likeness_goes_with_what_it_ranks() -> None:
    server = Ranking()
    answer = GitHubSimilar(server).ask(server.question())
    assert [run.query for run in answer.runs] == ["#3"]
    best, *others = merge_results([GitHubLexical(server).ask(server.question(f"{IN_TITLE} refused")), answer], NOW)
    assert (best.issue.number, best.sources) == (2, ("github-search", "github-similar"))
    assert best.likeness == Likeness(1.93, "high", True)
    assert [hit.likeness for hit in others] == [Likeness(None, "low", False)]
    assert Gathered((answer,), (best, *others)).likely == {best.issue.key}


def test_f8a_only_the_states_that_are_asked_for_count_and_drafts_are_not_asked_about() -> None:
    server = Ranking()
    question = replace(server.question(), state="open")
    (found,) = GitHubSimilar(server).ask(question).lists
    assert numbers(found) == {1}
    draft = replace(question, target=replace(server.last, id=0))
    assert GitHubSimilar(server).ask(draft) == SourceResult("github-similar")
    server.enabled = False
    assert GitHubSimilar(server).ask(question) == SourceResult("github-similar"), (
        "it was not asked, which is no failure"
    )
