"""What GitHub itself finds: issues and pull requests by words (F8), by meaning, and by its own ranking (F8a);
discussions.

A few queries by words go one after the other: GitHub asks for it ("Best practices for using the REST API"), and a
refused OR changes what is asked next.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

from bot.errors import Failed, GitHubError, Invalid, Remark, Retryable, told_by
from bot.github.repository.search import FoundDiscussions
from bot.model import Issue, Likeness, RepoRef
from bot.ranking.plan import any_that_fit
from bot.ranking.query import build_query
from bot.report import QueryRun
from bot.sources.protocol import PER_PAGE, Answer, Question, Searcher, unanswered


def ask_by_words(github: Searcher, name: str, queries: Sequence[str], instead: Sequence[str], budget: int) -> Answer:
    """The answer of the source `name`, for at most `budget` requests.

    A server that refuses OR (422) is asked the queries `instead`. A failure ends the asking; what was found before it
    is kept.
    """
    waiting, spare = list(queries), list(instead)
    answer = Answer(name)
    while waiting and len(answer.runs) < budget:
        query = waiting.pop(0)
        try:
            page = github.search(query, per_page=PER_PAGE)
        except Invalid as refused:
            if " OR " in query and spare:
                answer += Answer(name, runs=(QueryRun(name, query, None, problem=told_by(refused)),))
                waiting = [other for other in waiting if " OR " not in other] + spare
                spare = []
            else:
                answer += unanswered(name, query, refused)
        except (GitHubError, Retryable) as failure:
            return answer + unanswered(name, query, failure)
        else:
            run = QueryRun(name, query, page.total_count, incomplete=page.incomplete, cached=page.cached_at)
            answer += Answer(name, (page.items,), (run,))
    return answer


LEXICAL = "github-search"


class GitHubLexical:
    """Asks the queries of the plan, never more requests than it has queries."""

    name = LEXICAL

    def __init__(self, github: Searcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        queries = question.plan.queries
        return ask_by_words(self._github, LEXICAL, queries, question.plan.fallback, len(queries))


HYBRID = "github-hybrid"


class GitHubHybrid:
    """Asks with the title as it is, without quotes and OR, for which GitHub would fall back to words alone.

    A fall-back is no failure: its hits count, and the query's line says why.
    """

    name = HYBRID

    def __init__(self, github: Searcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        query = question.natural
        if not query:
            return Answer(HYBRID)
        try:
            page = self._github.search(query, hybrid=True, per_page=PER_PAGE)
        except (GitHubError, Retryable) as failure:
            return unanswered(HYBRID, query, failure)
        note = Remark.BY_WORDS.of(", ".join(page.fallback_reasons)) if page.fallback_reasons else None
        run = QueryRun(HYBRID, query, page.total_count, problem=note, incomplete=page.incomplete, cached=page.cached_at)
        return Answer(HYBRID, (page.items,), (run,))


SIMILAR = "github-similar"


class Ranked(Protocol):
    """What GitHub ranked, and when; `SimilarIssues` of `bot.github`."""

    @property
    def items(self) -> tuple[tuple[Issue, Likeness], ...]: ...
    @property
    def enabled(self) -> bool: ...
    @property
    def cached_at(self) -> str: ...


class SimilarReader(Protocol):
    """The ranking of an issue; `RepoClient` has it."""

    def similar_issues(self, repo: RepoRef, number: int) -> Ranked: ...


class GitHubSimilar:
    """Asks about the issue itself, whatever words are searched for. Where GitHub ranks nothing it was not asked."""

    name = SIMILAR

    def __init__(self, github: SimilarReader) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        target = question.target
        if not target.id:
            # A draft, of which GitHub knows nothing.
            return Answer(SIMILAR)
        query = f"#{target.number}"
        try:
            found = self._github.similar_issues(target.repo, target.number)
        except (GitHubError, Retryable) as failure:
            return unanswered(SIMILAR, query, failure)
        if not found.enabled:
            return Answer(SIMILAR)
        wanted = tuple(issue for issue, _ in found.items if question.state in ("all", issue.state))
        run = QueryRun(SIMILAR, query, len(found.items), cached=found.cached_at)
        return Answer(SIMILAR, (wanted,), (run,), likeness={issue.key: says for issue, says in found.items})


PULL_REQUESTS = "pull-requests"


class PullRequests:
    """Asks for the rarest words of the title in titles; a server that refuses OR is asked for the two rarest."""

    name = PULL_REQUESTS

    def __init__(self, github: Searcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        words, repo = question.plan.words, question.target.repo
        if not words:
            return Answer(PULL_REQUESTS)
        query = build_query(repo, any_that_fit(words), "title", question.state, "pr")
        narrow = build_query(repo, " ".join(words[:2]), "title", question.state, "pr")
        return ask_by_words(self._github, PULL_REQUESTS, [query], [narrow], budget=2)


DISCUSSIONS = "discussions"
#: Every word must match, so that more than two find next to nothing (F8). A pair alone finds nothing either where one
#: of its words is the issue's own: in a small repository the rarest word of a title is often one that nobody else uses.
_PAIRED = 3


class DiscussionSearcher(Protocol):
    """The search of discussions; `RepoClient` has it."""

    def discussions(self, repo: RepoRef, texts: Sequence[str]) -> FoundDiscussions: ...


class Discussions:
    """Needs the optional permission `discussions: read`, and says so where it is missing."""

    name = DISCUSSIONS

    def __init__(self, github: DiscussionSearcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        words = question.plan.words[:_PAIRED]
        texts = [" ".join(pair) for pair in combinations(words, min(2, len(words)))] if words else []
        if not texts:
            return Answer(DISCUSSIONS)
        try:
            found = self._github.discussions(question.target.repo, texts)
        except (GitHubError, Retryable) as failure:
            return unanswered(DISCUSSIONS, texts[0], failure)
        if not found.lists:
            return unanswered(DISCUSSIONS, texts[0], found.reason or Remark.EMPTY.of())
        runs = tuple(
            QueryRun(DISCUSSIONS, text, found.lists[text][0], cached=found.cached_at)
            if text in found.lists
            else QueryRun(DISCUSSIONS, text, None, problem=found.reason)
            for text in texts
        )
        problems = (Failed(DISCUSSIONS, found.reason),) if found.reason else ()
        return Answer(DISCUSSIONS, tuple(_wanted(items, question) for _, items in found.lists.values()), runs, problems)


def _wanted(found: Sequence[Issue], question: Question) -> tuple[Issue, ...]:
    return tuple(one for one in found if question.state in ("all", one.state))
