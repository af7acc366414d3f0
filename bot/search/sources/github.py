"""Sources that ask GitHub: three for issues (F8, F8a), one for pull requests, one for discussions.

Lexical queries go out one after the other, as GitHub asks ("Best practices for using the REST API"). Also, the
next queries depend on whether GitHub has refused OR.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from bot.domain.errors import GitHubError, Invalid, RemarkCode, Retryable, SourceProblem, remark_from
from bot.domain.report import QueryRun
from bot.github.repository import RepoClient
from bot.search.ranking.plan import any_that_fit
from bot.search.ranking.query import build_query
from bot.search.sources import GitHubReads, SearchRequest, SourceResult, failed_query


def ask_by_words(
    github: GitHubReads, name: str, queries: Sequence[str], without_or: Sequence[str], budget: int
) -> SourceResult:
    """The answer of the source `name` to `queries`, with at most `budget` requests.

    A server that refuses OR (422) gets the queries `without_or` instead. Other refused queries
    (422) are skipped. Any other failure ends the search; earlier results are kept.
    """
    waiting, fallback = list(queries), list(without_or)
    answer = SourceResult(name)
    while waiting and len(answer.runs) < budget:
        query = waiting.pop(0)
        try:
            page = github.search(query)
        except Invalid as refused:
            if " OR " in query and fallback:
                # Note the refusal in the query's `problem`, but not in `problems`: the source has not failed.
                answer += SourceResult(name, runs=(QueryRun(name, query, None, problem=remark_from(refused)),))
                waiting = [other for other in waiting if " OR " not in other] + fallback
                fallback = []
            else:
                answer += failed_query(name, query, refused)
        except (GitHubError, Retryable) as failure:
            return answer + failed_query(name, query, failure)
        else:
            run = QueryRun(name, query, page.total_count, incomplete=page.incomplete, cached=page.cached_at)
            answer += SourceResult(name, (page.items,), (run,))
    return answer


class _GitHubSource:
    def __init__(self, github: GitHubReads) -> None:
        self._github = github


class GitHubLexical(_GitHubSource):
    """Sends the queries of the plan, and never more requests than the plan has queries."""

    name = "github-search"

    def ask(self, question: SearchRequest) -> SourceResult:
        queries = question.plan.queries
        return ask_by_words(self._github, self.name, queries, question.plan.fallback, len(queries))


class GitHubHybrid(_GitHubSource):
    """Sends the request's `natural`: the title or a person's words, without quotes and OR.

    Quotes or OR would make GitHub fall back to a lexical search. A fallback is not a failure: the
    source keeps the results, and the query's line in the report gives the reason.
    """

    name = "github-hybrid"

    def ask(self, question: SearchRequest) -> SourceResult:
        query = question.natural
        if not query:
            return SourceResult(self.name)
        try:
            page = self._github.search(query, hybrid=True)
        except (GitHubError, Retryable) as failure:
            return failed_query(self.name, query, failure)
        note = RemarkCode.BY_WORDS.of(", ".join(page.fallback_reasons)) if page.fallback_reasons else None
        run = QueryRun(
            self.name, query, page.total_count, problem=note, incomplete=page.incomplete, cached=page.cached_at
        )
        return SourceResult(self.name, (page.items,), (run,))


class GitHubSimilar(_GitHubSource):
    """Asks GitHub which issues are similar to the target. Search words do not matter.

    If GitHub does not rank a repository's issues, the source counts as not asked.
    """

    name = "github-similar"

    def ask(self, question: SearchRequest) -> SourceResult:
        target = question.target
        if not target.id:
            # The target is a draft, which GitHub does not have.
            return SourceResult(self.name)
        query = f"#{target.number}"
        try:
            similar = self._github.similar_issues(target.repo, target.number)
        except (GitHubError, Retryable) as failure:
            return failed_query(self.name, query, failure)
        if not similar.enabled:
            return SourceResult(self.name)
        wanted = tuple(issue for issue, _ in similar.items if question.state in ("all", issue.state))
        run = QueryRun(self.name, query, len(similar.items), cached=similar.cached_at)
        return SourceResult(
            self.name, (wanted,), (run,), likeness={issue.key: likeness for issue, likeness in similar.items}
        )


class PullRequests(_GitHubSource):
    """Searches titles of pull requests for any of the plan's words, or for the first two if a server refuses OR."""

    name = "pull-requests"

    def ask(self, question: SearchRequest) -> SourceResult:
        words, repo = question.plan.words, question.target.repo
        if not words:
            return SourceResult(self.name)
        query = build_query(repo, any_that_fit(words), "title", question.state, "pr")
        without_or = build_query(repo, " ".join(words[:2]), "title", question.state, "pr")
        return ask_by_words(self._github, self.name, [query], [without_or], budget=2)


#: The queries are pairs of the first _PAIRED words. All words of a query must match, so a query of three words would
#: find almost nothing (F8). One pair is not enough: in a small repository, its rarer word often occurs nowhere else.
_PAIRED = 3


class Discussions:
    """Searches discussions with the optional permission `discussions: read`, and reports a missing permission."""

    name = "discussions"

    def __init__(self, github: RepoClient) -> None:
        self._github = github

    def ask(self, question: SearchRequest) -> SourceResult:
        words = question.plan.words[:_PAIRED]
        texts = [" ".join(pair) for pair in combinations(words, 2)] if len(words) > 1 else list(words)
        if not texts:
            return SourceResult(self.name)
        try:
            answer = self._github.discussions(question.target.repo, texts)
        except (GitHubError, Retryable) as failure:
            return failed_query(self.name, texts[0], failure)
        if not answer.lists:
            return failed_query(self.name, texts[0], answer.reason or RemarkCode.EMPTY.of())

        # `lists` maps each text to its number of matches and its best matches.
        def run_of(text: str) -> QueryRun:
            if text not in answer.lists:
                return QueryRun(self.name, text, None, problem=answer.reason)
            return QueryRun(self.name, text, answer.lists[text][0], cached=answer.cached_at)

        problems = (SourceProblem(self.name, answer.reason),) if answer.reason else ()
        lists = tuple(
            tuple(discussion for discussion in items if question.state in ("all", discussion.state))
            for _, items in answer.lists.values()
        )
        return SourceResult(self.name, lists, tuple(map(run_of, texts)), problems)
