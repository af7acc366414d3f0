"""What a repository's settings name: issues that maintainers have pinned, which are considered whatever the searches
find, and other repositories whose issues may report the same thing.

A result from a private repository is never shown where others can read it (H6). Nobody can know who reads a comment and
what else they may read, so only public repositories count, whoever allowed them: whether they are is read from GitHub
at every find, never remembered, and once more after the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from bot.batches import batches
from bot.errors import Failed, Forbidden, GitHubError, NotFound, Remark, Retryable, Told
from bot.model import Issue, RepoRef, Repository, name_key, same_login
from bot.ranking.plan import any_that_fit
from bot.ranking.query import MAX_OPERATORS, build_query
from bot.report import QueryRun
from bot.sources.github import ask_by_words
from bot.sources.protocol import Answer, Question, Searcher, unanswered

KNOWN_ISSUES = "known-issues"

#: Issues that are read one by one where there is no index; each costs a request.
MOST_READ = 20


class IssueReader(Protocol):
    """Reading one issue; `RepoClient` has it."""

    def issue(self, repo: RepoRef, number: int) -> Issue: ...


class KnownIssues:
    """Reads the known issues, in the order in which they are named."""

    name = KNOWN_ISSUES

    def __init__(self, github: IssueReader, numbers: Sequence[int]) -> None:
        self._github = github
        self._numbers = tuple(numbers)

    def ask(self, question: Question) -> Answer:
        pinned = [number for number in self._numbers if number != question.target.number]
        asked, left = pinned[:MOST_READ], len(pinned[MOST_READ:])
        if not asked:
            return Answer(KNOWN_ISSUES)
        found: list[Issue] = []
        for number in asked:
            try:
                found.append(self._github.issue(question.target.repo, number))
            except NotFound:
                continue
            except (GitHubError, Retryable) as failure:
                return Answer(KNOWN_ISSUES, (tuple(found),)) + unanswered(KNOWN_ISSUES, _query(asked), failure)
        return Answer(KNOWN_ISSUES, (tuple(found),), (known_run(asked, len(found), left),))


def known_run(asked: Sequence[int], found: int, left: int = 0) -> QueryRun:
    """What was asked, in words, with a note about those that are not there, and those that were `left` unread."""
    missing = len(asked) - found
    note: Told | None = None
    if missing and left:
        note = Remark.NOT_FOUND_AND_LEFT.of(missing, left)
    elif missing:
        note = Remark.NOT_FOUND.of(missing)
    elif left:
        note = Remark.LEFT.of(left)
    return QueryRun(KNOWN_ISSUES, _query(asked), found, problem=note)


def _query(asked: Sequence[int]) -> str:
    return " ".join(f"#{number}" for number in asked)


SIBLINGS = "siblings"

TOGETHER = 3
"""Repositories that one search asks. GitHub takes five operators in a query, and the words want some too."""


class RepositoryReader(Searcher, Protocol):
    """The search, and the present state of a repository; `RepoClient` has both."""

    def repository(self, repo: RepoRef) -> Repository: ...


class Siblings:
    """Asks the repositories that the settings name and that have the same owner, or that the host has `allowed`."""

    name = SIBLINGS

    def __init__(self, github: RepositoryReader, named: Iterable[RepoRef], allowed: Iterable[str]) -> None:
        self._github = github
        self._named = tuple(named)
        self._allowed = frozenset(name_key(one) for one in allowed)

    def ask(self, question: Question) -> Answer:
        here = question.target.repo
        named = [repo for repo in dict.fromkeys(self._named) if repo.key != here.key]
        words = question.plan.words
        if not words or not named:
            return Answer(SIBLINGS)
        try:
            public = self._public([repo for repo in named if self._may_name(repo, here)])
            if not public:
                return Answer(SIBLINGS, problems=_left_out(named, public))
            queries = [
                # One OR fewer than there are alternatives, of both kinds.
                build_query(some, any_that_fit(words[: MAX_OPERATORS + 2 - len(some)]), "title", question.state)
                for some in batches(public, TOGETHER)
            ]
            narrow = build_query(public, " ".join(words[:2]), "title", question.state, flat=True)
            answer = ask_by_words(self._github, SIBLINGS, queries, [narrow], budget=len(queries) + 1)
            # Between the first look and the search a repository may have been hidden.
            found = {issue.repo.key for items in answer.lists for issue in items}
            still = {repo.key for repo in self._public([repo for repo in public if repo.key in found])}
        except (GitHubError, Retryable) as failure:
            # What GitHub said may name a repository that others must not know of.
            return unanswered(SIBLINGS, " ".join(words), failure, Remark.UNREAD.of())
        lists = tuple(tuple(issue for issue in items if issue.repo.key in still) for items in answer.lists)
        if found - still:
            # The number of hits would say something about what is hidden now.
            return Answer(SIBLINGS, lists, (), (*answer.problems, Failed(SIBLINGS, Remark.HIDDEN.of())))
        return replace(answer, lists=lists, problems=(*_left_out(named, public), *answer.problems))

    def _may_name(self, repo: RepoRef, here: RepoRef) -> bool:
        return same_login(repo.owner, here.owner) or repo.key in self._allowed

    def _public(self, repos: Sequence[RepoRef]) -> list[RepoRef]:
        """Those that are public at this moment, under the very name that was allowed."""
        public = []
        for repo in repos:
            try:
                found = self._github.repository(repo)
            except (NotFound, Forbidden):
                continue
            if not found.private and found.ref.key == repo.key:
                public.append(repo)
        return public


def _left_out(named: Sequence[RepoRef], public: Sequence[RepoRef]) -> tuple[Failed, ...]:
    """How many were not asked. Not which: a settings file may be private, and a name may be a secret."""
    missing = len(named) - len(public)
    return (Failed(SIBLINGS, Remark.LEFT_OUT.of(missing, len(named))),) if missing else ()
