"""Issues that maintainers have pinned: they are considered whatever the searches find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.errors import GitHubError, NotFound, Retryable
from bot.model import Issue, RepoRef
from bot.report import QueryRun
from bot.sources.protocol import Answer, Question

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
        asked = [number for number in self._numbers if number != question.target.number][:MOST_READ]
        query = known_query(asked)
        found: list[Issue] = []
        for number in asked:
            try:
                found.append(self._github.issue(question.target.repo, number))
            except NotFound:
                continue
            except (GitHubError, Retryable) as failure:
                run = QueryRun(NAME, query, None, problem=str(failure), later=isinstance(failure, Retryable))
                return Answer(NAME, (tuple(found),), (run,), (f"{NAME}: {failure}",))
        return known_answer(asked, found)


def known_query(numbers: Sequence[int]) -> str:
    """What is asked, in words."""
    return " ".join(f"#{number}" for number in numbers)


def known_answer(asked: Sequence[int], found: Sequence[Issue]) -> Answer:
    """The answer, with a note about those that are there no more."""
    if not asked:
        return Answer(NAME)
    missing = len(asked) - len(found)
    note = f"{missing} not found" if missing else ""
    return Answer(NAME, (tuple(found),), (QueryRun(NAME, known_query(asked), len(found), problem=note),))
