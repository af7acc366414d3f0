"""What a source is asked and what it answers; and H1: every source is asked on its own, one that fails or is late is
reported, and the others still answer.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Protocol

from bot.errors import Failed, Remark, Retryable, Told, told_by
from bot.model import Issue, Likeness, StateFilter
from bot.ranking.plan import Plan
from bot.report import QueryRun
from bot.telemetry.tracing import span
from bot.telemetry.work import carried

PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Question:
    """One find. `plan` is for searches by words, `natural` for searches by meaning; either may be empty.

    `state` says which results count.
    """

    target: Issue
    plan: Plan
    natural: str
    state: StateFilter = "all"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source found: a ranked list for each query that was answered, how each query went, and what failed.

    A source reports what went wrong in `problems` instead of raising (H1). `likeness` is what it
    says itself of how like the target results are, by their keys: evidence beside their places in its lists.
    """

    source: str
    lists: tuple[tuple[Issue, ...], ...] = ()
    runs: tuple[QueryRun, ...] = ()
    problems: tuple[Failed, ...] = ()
    likeness: Mapping[str, Likeness] = field(default_factory=dict)

    def __add__(self, further: Answer) -> Answer:
        """This, and then what the same source answered to what it was asked after it."""
        return Answer(
            self.source,
            self.lists + further.lists,
            self.runs + further.runs,
            self.problems + further.problems,
            {**self.likeness, **further.likeness},
        )


def unanswered(source: str, query: str, failure: Exception | Told, told: Told | None = None) -> Answer:
    """What a source says of a query that was put in vain.

    `told` is what may be said of the failure, where that is not all that it says itself.
    """
    told = told or (failure if isinstance(failure, Told) else told_by(failure))
    run = QueryRun(source, query, None, problem=told, later=isinstance(failure, Retryable))
    return Answer(source, (), (run,), (Failed(source, told),))


class Source(Protocol):
    """One haystack. `name` is its key in settings and reports."""

    @property
    def name(self) -> str: ...

    def ask(self, question: Question) -> Answer:
        """Search. Must be safe to call from several threads."""
        ...


class Page(Protocol):
    """A page of GitHub's search; `bot.github.repository.search.SearchPage` is one."""

    @property
    def total_count(self) -> int: ...
    @property
    def incomplete(self) -> bool: ...
    @property
    def items(self) -> tuple[Issue, ...]: ...
    @property
    def search_type(self) -> str: ...
    @property
    def fallback_reasons(self) -> tuple[str, ...]: ...
    @property
    def cached_at(self) -> str: ...


class Searcher(Protocol):
    """GitHub's issue search; `RepoClient` has it."""

    def search(self, query: str, *, hybrid: bool = False, per_page: int = PER_PAGE) -> Page: ...


log = logging.getLogger(__name__)


def ask_all(sources: Sequence[Source], question: Question, within: float | None = None) -> list[Answer]:
    """The answers in the order of the sources, asked side by side. Never raises for a source's sake.

    What has not answered `within` so many seconds (None: all the time that it takes) is left behind, and said to be
    late; it comes to its end by itself, see `bot.at_work`.
    """
    if not sources or (len(sources) == 1 and within is None):
        return [_ask(source, question) for source in sources]
    threads = ThreadPoolExecutor(max_workers=len(sources), thread_name_prefix="source")
    try:
        asking = [threads.submit(carried(_ask), source, question) for source in sources]
        answered, _ = wait(asking, timeout=within)
    finally:
        threads.shutdown(wait=within is None)
    return [
        one.result() if one in answered else _late(source, within) for source, one in zip(sources, asking, strict=True)
    ]


def _late(source: Source, within: float | None) -> Answer:
    return Answer(source.name, problems=(Failed(source.name, Remark.TOO_LATE.of(round(within or 0))),))


def _ask(source: Source, question: Question) -> Answer:
    try:
        with span("source", source=source.name):
            return source.ask(question)
    except Exception as fault:
        # A fault of ours in one source must not cost the reader what the others found. Its message is left out of the
        # log, as it may quote an issue.
        frames = "".join(traceback.format_tb(fault.__traceback__))
        log.error("source %s failed: %s\n%s", source.name, type(fault).__name__, frames)
        return Answer(source.name, problems=(Failed(source.name, Remark.FAILED.of()),))
