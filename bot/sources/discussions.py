"""Discussions of the repository: one GraphQL search for the two rarest words of the title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.errors import GitHubError, Retryable
from bot.model import Issue, RepoRef
from bot.report import QueryRun
from bot.sources.protocol import Answer, Question

NAME = "discussions"
#: Every word must match, so that more than two find next to nothing (F8).
_WORDS = 2


class Found(Protocol):
    """`bot.github.discussions.FoundDiscussions`: what was found, of how many, what was not read and why, and when."""

    @property
    def items(self) -> tuple[Issue, ...]: ...
    @property
    def total_count(self) -> int | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def cached_at(self) -> str: ...


class DiscussionSearcher(Protocol):
    """The search of discussions; `RepoClient` has it."""

    def discussions(self, repo: RepoRef, text: str) -> Found: ...


class Discussions:
    """Needs the optional permission `discussions: read`, and says so where it is missing."""

    name = NAME

    def __init__(self, github: DiscussionSearcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        text = " ".join(question.plan.words[:_WORDS])
        if not text:
            return Answer(NAME)
        try:
            found = self._github.discussions(question.target.repo, text)
        except (GitHubError, Retryable) as failure:
            run = QueryRun(NAME, text, None, problem=str(failure), later=isinstance(failure, Retryable))
            return Answer(NAME, (), (run,), (f"{NAME}: {failure}",))
        run = QueryRun(NAME, text, found.total_count, problem=found.reason, cached=found.cached_at)
        problems = (f"{NAME}: {found.reason}",) if found.reason else ()
        return Answer(NAME, (_wanted(found.items, question),), (run,), problems)


def _wanted(found: Sequence[Issue], question: Question) -> tuple[Issue, ...]:
    return tuple(one for one in found if question.state in ("all", one.state))
