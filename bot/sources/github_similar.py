"""GitHub's own ranking of the issues most like one (F8a): one request, which counts for no limit of searches."""

from __future__ import annotations

from typing import Protocol

from bot.errors import GitHubError, Retryable
from bot.model import Issue, Likeness, RepoRef
from bot.report import QueryRun
from bot.sources.protocol import Answer, Question, unanswered

NAME = "github-similar"


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

    name = NAME

    def __init__(self, github: SimilarReader) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        target = question.target
        if not target.id:
            # A draft, of which GitHub knows nothing.
            return Answer(NAME)
        query = f"#{target.number}"
        try:
            found = self._github.similar_issues(target.repo, target.number)
        except (GitHubError, Retryable) as failure:
            return unanswered(NAME, query, failure)
        if not found.enabled:
            return Answer(NAME)
        wanted = tuple(issue for issue, _ in found.items if question.state in ("all", issue.state))
        run = QueryRun(NAME, query, len(found.items), cached=found.cached_at)
        return Answer(NAME, (wanted,), (run,), likeness={issue.key: says for issue, says in found.items})
