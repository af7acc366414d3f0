"""Defines sources of candidates (H6), asks the sources in parallel, and merges their results.

Sources are independent: if one fails or is late, the report names it, and the others' answers count (H1). A result that
several sources find keeps the names of all these sources (H2).
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice, zip_longest
from typing import Protocol

from bot.conversation.config.schema import SourceConfig
from bot.domain.entities import Issue, Likeness, RepoRef, StateFilter
from bot.domain.errors import Remark, RemarkCode, Retryable, SourceProblem, remark_from
from bot.domain.report import QueryRun
from bot.github.batched_reads import WorkflowStates
from bot.github.search import SearchPage, SimilarIssues
from bot.platform.tracing import span, with_context
from bot.search.ranking.fusion import RankedSourceList, SourceType, UnifiedRetrievalChunk, cross_corpus_rrf
from bot.search.ranking.grouping import Document, collapse
from bot.search.ranking.plan import Plan

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search for duplicates of `target`. Only results with this `state` count.

    `plan` has the searches by words, and `natural` is the search by meaning; either may be empty.
    """

    target: Issue
    plan: Plan
    natural: str
    state: StateFilter = "all"


@dataclass(frozen=True, slots=True)
class SourceResult:
    """A source's answer: a ranked list for each answered query, each query's outcome, and failures (never raised).

    `likeness` maps the key of an issue to the source's own judgement of its similarity.
    """

    source: str
    lists: tuple[tuple[Issue, ...], ...] = ()
    runs: tuple[QueryRun, ...] = ()
    problems: tuple[SourceProblem, ...] = ()
    likeness: Mapping[str, Likeness] = field(default_factory=dict)

    def __add__(self, further: SourceResult) -> SourceResult:
        """Append a later answer of the same source."""
        return SourceResult(
            self.source,
            self.lists + further.lists,
            self.runs + further.runs,
            self.problems + further.problems,
            {**self.likeness, **further.likeness},
        )


def failed_query(source: str, query: str, failure: Exception | Remark, remark: Remark | None = None) -> SourceResult:
    """The answer for a failed query. Pass a `remark` to replace the failure's message if readers must not see it."""
    remark = remark or (failure if isinstance(failure, Remark) else remark_from(failure))
    run = QueryRun(source, query, None, problem=remark, later=isinstance(failure, Retryable))
    return SourceResult(source, (), (run,), (SourceProblem(source, remark),))


class Source(Protocol):
    """A source of candidates. `name` is its key in settings and reports."""

    name: str

    def ask(self, question: SearchRequest) -> SourceResult:
        """Search. Safe to call from several threads."""


class GitHubReads(Protocol):
    """What the finder and the sources read from GitHub. `RepoClient` and `ThreadClient` implement this protocol."""

    def issue(self, repo: RepoRef, number: int) -> Issue: ...
    def search(self, query: str, *, hybrid: bool = False) -> SearchPage: ...
    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]: ...
    def similar_issues(self, repo: RepoRef, number: int) -> SimilarIssues: ...
    def workflow_states(self, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowStates: ...


def ask_all(sources: Sequence[Source], question: SearchRequest, within: float | None = None) -> list[SourceResult]:
    """Ask all sources in parallel; the answers come in the order of the sources. A source's failure is never raised.

    A source that takes longer than `within` seconds (None: no limit) counts as late. Its thread goes on until its
    requests end. The caller limits their time by `bot.github.transport.time_limit`.
    """
    if not sources or (len(sources) == 1 and within is None):
        return [_ask(source, question) for source in sources]
    threads = ThreadPoolExecutor(max_workers=len(sources), thread_name_prefix="source")
    try:
        futures = [threads.submit(with_context(_ask), source, question) for source in sources]
        answered, _ = wait(futures, timeout=within)
    finally:
        threads.shutdown(wait=within is None)
    late = RemarkCode.TOO_LATE.of(round(within or 0))
    return [
        future.result()
        if future in answered
        else SourceResult(source.name, problems=(SourceProblem(source.name, late),))
        for source, future in zip(sources, futures, strict=True)
    ]


def _ask(source: Source, question: SearchRequest) -> SourceResult:
    try:
        with span("source", source=source.name):
            return source.ask(question)
    except Exception as fault:
        # A fault in one source must not lose the results of other sources. The fault's message is not logged, because
        # it may quote an issue.
        frames = "".join(traceback.format_tb(fault.__traceback__))
        log.error("source %s failed: %s\n%s", source.name, type(fault).__name__, frames)
        return SourceResult(source.name, problems=(SourceProblem(source.name, RemarkCode.FAILED.of()),))


@dataclass(frozen=True, slots=True)
class Hit:
    """An issue, pull request or discussion, the sources that found it, and GitHub's own verdict if there is one."""

    issue: Issue
    sources: tuple[str, ...]
    likeness: Likeness | None = None


def merge_results(
    answers: Iterable[SourceResult], now: datetime, settings: Mapping[str, SourceConfig] | None = None
) -> list[Hit]:
    """Every result once, best first by reciprocal rank over all lists, with a small bonus for recent issues (R3).

    `settings` maps a source's name to its settings, which have the weight of the source's lists.
    """
    issues: dict[str, Issue] = {}
    sources: dict[str, dict[str, None]] = {}  # The inner dict is an ordered set of sources.
    likeness: dict[str, Likeness] = {}
    lists = []
    for answer in answers:
        likeness.update(answer.likeness)
        weight = (settings or {}).get(answer.source, SourceConfig()).weight
        for ranked in answer.lists:
            for issue in ranked:
                issues.setdefault(issue.key, issue)
                sources.setdefault(issue.key, {})[answer.source] = None
            # The fusion merges chunks by id and ignores their kinds, so ISSUE stands for every kind.
            kind = SourceType.ISSUE
            chunks = [
                UnifiedRetrievalChunk(issue.key, issue.title, kind, issue.key, created_at=issue.created_at)
                for issue in ranked
            ]
            lists.append(RankedSourceList(kind, chunks, weight))
    return [
        Hit(issues[chunk.id], tuple(sources[chunk.id]), likeness.get(chunk.id))
        for chunk in cross_corpus_rrf(lists, now=now)
    ]


def collapse_discussions(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Merge repeated discussions (H3): those with the same address or text, or with similar titles.

    The first hit gets the texts of the others. Before the call, remove hits whose texts must not be shown.
    """
    if not any(hit.issue.is_discussion for hit in hits):
        return hits
    # If several hits have the same address, the first counts.
    by_url = {hit.issue.url: hit for hit in reversed(hits)}
    # `collapse` compares the addresses, texts and titles of documents without an identity.
    documents = [
        Document(
            identity="" if hit.issue.is_discussion else hit.issue.key,
            url=hit.issue.url,
            title=hit.issue.title,
            snippets=(hit.issue.body,) if hit.issue.body else (),
            sources=hit.sources,
        )
        for hit in hits
    ]
    merged = [(by_url[document.url], document) for document in collapse(documents)]
    return [
        Hit(replace(hit.issue, body="\n\n".join(document.snippets)), document.sources, hit.likeness)
        for hit, document in merged
    ]


def limit_results(answer: SourceResult, limit: int | None) -> SourceResult:
    """The answer with at most `limit` different results: the issues with the best ranks in any of its lists."""
    if limit is None:
        return answer
    ranks = zip_longest(*answer.lists)  # The issues of each rank; None for a list that is shorter.
    keys = dict.fromkeys(issue.key for rank in ranks for issue in rank if issue is not None)
    best = set(islice(keys, limit))
    lists = tuple(tuple(issue for issue in ranked if issue.key in best) for ranked in answer.lists)
    return replace(answer, lists=lists)
