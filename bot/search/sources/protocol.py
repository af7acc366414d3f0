"""A source's question and answer. Sources are independent: one that fails or is late is reported (H1)."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Protocol

from bot.domain.entities import Issue, Likeness, StateFilter
from bot.domain.errors import Remark, RemarkCode, Retryable, SourceProblem, remark_from
from bot.domain.report import QueryRun
from bot.github.search import SearchPage
from bot.platform.tracing import carried, span
from bot.search.ranking.plan import Plan

PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Question:
    """One find: `plan` is for lexical searches, `natural` for semantic ones; either may be empty.

    `state` tells which results count.
    """

    target: Issue
    plan: Plan
    natural: str
    state: StateFilter = "all"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source found: a ranked list for each query that was answered, the queries' outcomes, and failures.

    A source reports failures in `problems` instead of raising them (H1). `likeness` holds its own verdicts on results,
    by their keys.
    """

    source: str
    lists: tuple[tuple[Issue, ...], ...] = ()
    runs: tuple[QueryRun, ...] = ()
    problems: tuple[SourceProblem, ...] = ()
    likeness: Mapping[str, Likeness] = field(default_factory=dict)

    def __add__(self, further: Answer) -> Answer:
        """Append a later answer of the same source."""
        return Answer(
            self.source,
            self.lists + further.lists,
            self.runs + further.runs,
            self.problems + further.problems,
            {**self.likeness, **further.likeness},
        )


def unanswered(source: str, query: str, failure: Exception | Remark, told: Remark | None = None) -> Answer:
    """The answer for a query that failed; `told` replaces the failure's own message if readers must not see that."""
    told = told or (failure if isinstance(failure, Remark) else remark_from(failure))
    run = QueryRun(source, query, None, problem=told, later=isinstance(failure, Retryable))
    return Answer(source, (), (run,), (SourceProblem(source, told),))


class Source(Protocol):
    """A source of candidates. `name` is its key in settings and reports."""

    name: str

    def ask(self, question: Question) -> Answer:
        """Search. Safe to call from several threads."""
        ...


class Searcher(Protocol):
    """Searches issues, as `RepoClient` does."""

    def search(self, query: str, *, hybrid: bool = False, per_page: int = PER_PAGE) -> SearchPage: ...


log = logging.getLogger(__name__)


def ask_all(sources: Sequence[Source], question: Question, within: float | None = None) -> list[Answer]:
    """Ask all sources in parallel; the answers come in the order of the sources. A source's failure is never raised.

    A source that takes longer than `within` seconds (None: no limit) is reported as late. It ends by itself, see
    `bot.platform.at_work`.
    """
    if not sources or (len(sources) == 1 and within is None):
        return [_ask(source, question) for source in sources]
    threads = ThreadPoolExecutor(max_workers=len(sources), thread_name_prefix="source")
    try:
        asking = [threads.submit(carried(_ask), source, question) for source in sources]
        answered, _ = wait(asking, timeout=within)
    finally:
        threads.shutdown(wait=within is None)
    late = RemarkCode.TOO_LATE.of(round(within or 0))
    return [
        one.result() if one in answered else Answer(source.name, problems=(SourceProblem(source.name, late),))
        for source, one in zip(sources, asking, strict=True)
    ]


def _ask(source: Source, question: Question) -> Answer:
    try:
        with span("source", source=source.name):
            return source.ask(question)
    except Exception as fault:
        # Our own fault in one source must not cost the reader what the others found. The log leaves out the message,
        # because it may quote an issue.
        frames = "".join(traceback.format_tb(fault.__traceback__))
        log.error("source %s failed: %s\n%s", source.name, type(fault).__name__, frames)
        return Answer(source.name, problems=(SourceProblem(source.name, RemarkCode.FAILED.of()),))
