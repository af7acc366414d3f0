"""Issues that maintainers have pinned: they are considered whatever the searches find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.errors import GitHubError, NotFound, Retryable
from bot.model import Issue, RepoRef
from bot.remarks import Remark, Told
from bot.report import QueryRun
from bot.sources.protocol import Answer, Question, unanswered

NAME = "known-issues"

#: Issues that are read one by one where there is no index; each costs a request.
MOST_READ = 20


class IssueReader(Protocol):
    """Reading one issue; `RepoClient` has it."""

    def issue(self, repo: RepoRef, number: int) -> Issue: ...


class KnownIssues:
    """Reads the known issues, in the order in which they are named."""

    name = NAME

    def __init__(self, github: IssueReader, numbers: Sequence[int]) -> None:
        self._github = github
        self._numbers = tuple(numbers)

    def ask(self, question: Question) -> Answer:
        pinned = [number for number in self._numbers if number != question.target.number]
        asked, left = pinned[:MOST_READ], len(pinned[MOST_READ:])
        if not asked:
            return Answer(NAME)
        found: list[Issue] = []
        for number in asked:
            try:
                found.append(self._github.issue(question.target.repo, number))
            except NotFound:
                continue
            except (GitHubError, Retryable) as failure:
                return Answer(NAME, (tuple(found),)) + unanswered(NAME, _query(asked), failure)
        return Answer(NAME, (tuple(found),), (known_run(asked, len(found), left),))


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
    return QueryRun(NAME, _query(asked), found, problem=note)


def _query(asked: Sequence[int]) -> str:
    return " ".join(f"#{number}" for number in asked)
