"""The sources that a repository's settings name: known issues, which are always candidates, and sibling repositories.

People who cannot read a private repository must not see results from it (H6). The bot cannot know who reads a comment,
so it searches only public siblings, even if the host has allowed private ones. It asks GitHub whether a sibling is
public before each search, and again after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.domain.entities import Issue, RepoRef, name_key, same_login
from bot.domain.errors import Forbidden, GitHubError, NotFound, Remark, RemarkCode, Retryable, SourceProblem
from bot.domain.formats import batches
from bot.domain.report import QueryRun
from bot.github.repository import RepoClient
from bot.search.ranking.plan import any_that_fit
from bot.search.ranking.query import MAX_OPERATORS, build_query
from bot.search.sources import GitHubReads, SearchRequest, SourceResult, failed_query
from bot.search.sources.github import ask_by_words

#: Without an index, at most this many known issues are read one by one; each costs a request.
MOST_READ = 20


class KnownIssues:
    """Reads the known issues, in the order of the settings."""

    name = "known-issues"

    def __init__(self, github: GitHubReads, numbers: Sequence[int]) -> None:
        self._github = github
        self._numbers = tuple(numbers)

    def ask(self, question: SearchRequest) -> SourceResult:
        known = [number for number in self._numbers if number != question.target.number]
        asked, left = known[:MOST_READ], len(known[MOST_READ:])
        if not asked:
            return SourceResult(self.name)
        issues: list[Issue] = []
        for number in asked:
            try:
                issues.append(self._github.issue(question.target.repo, number))
            except NotFound:
                continue
            except (GitHubError, Retryable) as failure:
                return SourceResult(self.name, (tuple(issues),)) + failed_query(self.name, _query(asked), failure)
        return SourceResult(self.name, (tuple(issues),), (known_run(asked, len(issues), left),))


def known_run(asked: Sequence[int], found: int, left: int = 0) -> QueryRun:
    """The known issues' line in the report, with a note on issues that were not found or were `left` unread."""
    missing = len(asked) - found
    note: Remark | None = None
    if missing and left:
        note = RemarkCode.NOT_FOUND_AND_LEFT.of(missing, left)
    elif missing:
        note = RemarkCode.NOT_FOUND.of(missing)
    elif left:
        note = RemarkCode.LEFT.of(left)
    return QueryRun(KnownIssues.name, _query(asked), found, problem=note)


def _query(asked: Sequence[int]) -> str:
    return " ".join(f"#{number}" for number in asked)


REPOS_PER_QUERY = 3
"""The most repositories in one query. GitHub allows five operators, and the words need some too."""


class Siblings:
    """Searches the repositories that the settings name, if the issue's owner owns them or the host `allowed` them."""

    name = "siblings"

    def __init__(self, github: RepoClient, named: Iterable[RepoRef], allowed: Iterable[str]) -> None:
        self._github = github
        self._named = tuple(named)
        self._allowed = frozenset(name_key(one) for one in allowed)

    def ask(self, question: SearchRequest) -> SourceResult:
        home = question.target.repo
        named = [repo for repo in dict.fromkeys(self._named) if repo.key != home.key]
        words = question.plan.words
        if not words or not named:
            return SourceResult(self.name)
        try:
            public = self._public([repo for repo in named if self._is_allowed(repo, home)])
            if not public:
                return SourceResult(self.name, problems=_left_out(named, public))
            queries = [
                # r repositories and w words need (r - 1) + (w - 1) operators.
                build_query(group, any_that_fit(words[: MAX_OPERATORS + 2 - len(group)]), "title", question.state)
                for group in batches(public, REPOS_PER_QUERY)
            ]
            for_servers_without_or = build_query(public, " ".join(words[:2]), "title", question.state, flat=True)
            answer = ask_by_words(self._github, self.name, queries, [for_servers_without_or], budget=len(queries) + 1)
            # A repository may have become private between the first check and the search.
            repos_found = {issue.repo.key for items in answer.lists for issue in items}
            still_public = {repo.key for repo in self._public([one for one in public if one.key in repos_found])}
        except (GitHubError, Retryable) as failure:
            # GitHub's message may name a repository that readers must not know about.
            return failed_query(self.name, " ".join(words), failure, RemarkCode.UNREAD.of())
        lists = tuple(tuple(issue for issue in items if issue.repo.key in still_public) for items in answer.lists)
        if repos_found - still_public:
            # Leave out the queries' outcomes: the number of hits would reveal something about the private repository.
            return SourceResult(
                self.name, lists, (), (*answer.problems, SourceProblem(self.name, RemarkCode.HIDDEN.of()))
            )
        return replace(answer, lists=lists, problems=(*_left_out(named, public), *answer.problems))

    def _is_allowed(self, repo: RepoRef, home: RepoRef) -> bool:
        return same_login(repo.owner, home.owner) or repo.key in self._allowed

    def _public(self, repos: Sequence[RepoRef]) -> list[RepoRef]:
        """The repositories that are public now, under exactly the name that was allowed."""
        public = []
        for repo in repos:
            try:
                current = self._github.repository(repo)
            except (NotFound, Forbidden):
                continue
            if not current.private and current.ref.key == repo.key:
                public.append(repo)
        return public


def _left_out(named: Sequence[RepoRef], public: Sequence[RepoRef]) -> tuple[SourceProblem, ...]:
    """How many repositories were not searched, without their names: a name in private settings may be a secret."""
    missing = len(named) - len(public)
    return (SourceProblem(Siblings.name, RemarkCode.LEFT_OUT.of(missing, len(named))),) if missing else ()
