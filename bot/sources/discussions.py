"""Discussions of the repository: GraphQL searches for pairs of the rarest words of the title, in one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Protocol

from bot.errors import GitHubError, Retryable
from bot.model import Issue, RepoRef
from bot.remarks import Failed, Remark, Told
from bot.report import QueryRun
from bot.sources.protocol import Answer, Question, unanswered

NAME = "discussions"
#: Every word must match, so that more than two find next to nothing (F8). A pair alone finds nothing either where one
#: of its words is the issue's own: in a small repository the rarest word of a title is often one that nobody else uses.
_RAREST = 3


class Found(Protocol):
    """What was found for each text, what was not read and why, and when: `FoundDiscussions` of `bot.github`."""

    @property
    def lists(self) -> Mapping[str, tuple[int, tuple[Issue, ...]]]: ...
    @property
    def reason(self) -> Told | None: ...
    @property
    def cached_at(self) -> str: ...


class DiscussionSearcher(Protocol):
    """The search of discussions; `RepoClient` has it."""

    def discussions(self, repo: RepoRef, texts: Sequence[str]) -> Found: ...


class Discussions:
    """Needs the optional permission `discussions: read`, and says so where it is missing."""

    name = NAME

    def __init__(self, github: DiscussionSearcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        words = question.plan.words[:_RAREST]
        texts = [" ".join(pair) for pair in combinations(words, min(2, len(words)))] if words else []
        if not texts:
            return Answer(NAME)
        try:
            found = self._github.discussions(question.target.repo, texts)
        except (GitHubError, Retryable) as failure:
            return unanswered(NAME, texts[0], failure)
        if not found.lists:
            return unanswered(NAME, texts[0], found.reason or Remark.EMPTY.of())
        runs = tuple(
            QueryRun(NAME, text, found.lists[text][0], cached=found.cached_at)
            if text in found.lists
            else QueryRun(NAME, text, None, problem=found.reason)
            for text in texts
        )
        problems = (Failed(NAME, found.reason),) if found.reason else ()
        return Answer(NAME, tuple(_wanted(items, question) for _, items in found.lists.values()), runs, problems)


def _wanted(found: Sequence[Issue], question: Question) -> tuple[Issue, ...]:
    return tuple(one for one in found if question.state in ("all", one.state))
