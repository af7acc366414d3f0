"""Merges the lists of all sources (R). A result that several sources found keeps all their names (H2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, zip_longest

from bot.conversation.config.schema import SourceConfig
from bot.domain.entities import Issue, Likeness
from bot.search.ranking.fusion import RankedSourceList, SourceType, UnifiedRetrievalChunk, cross_corpus_rrf
from bot.search.ranking.same import Document, collapse
from bot.search.sources.protocol import SourceResult

_USUAL = SourceConfig()


@dataclass(frozen=True, slots=True)
class Hit:
    """A result, an issue or something in its shape, and the sources that found it.

    `likeness` is GitHub's own verdict, if GitHub has ranked it.
    """

    issue: Issue
    sources: tuple[str, ...]
    likeness: Likeness | None = None


def merge_results(
    answers: Iterable[SourceResult], now: datetime, use: Mapping[str, SourceConfig] | None = None
) -> list[Hit]:
    """Every result once, best first by reciprocal rank over all lists, recent ones a little ahead (R3).

    `use` holds the sources' settings, with the weights of their lists.
    """
    issues: dict[str, Issue] = {}
    sources: dict[str, dict[str, None]] = {}
    likeness: dict[str, Likeness] = {}
    lists = []
    for answer in answers:
        likeness.update(answer.likeness)
        weight = (use or {}).get(answer.source, _USUAL).weight
        for found in answer.lists:
            chunks = []
            for issue in found:
                key = issue.key
                issues.setdefault(key, issue)
                sources.setdefault(key, {})[answer.source] = None
                chunks.append(
                    UnifiedRetrievalChunk(key, issue.title, SourceType.ISSUE, key, created_at=issue.created_at)
                )
            lists.append(RankedSourceList(SourceType.ISSUE, chunks, weight))
    return [
        Hit(issues[chunk.id], tuple(sources[chunk.id]), likeness.get(chunk.id))
        for chunk in cross_corpus_rrf(lists, now=now)
    ]


def collapse_discussions(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Merge discussions that say the same (H3), since one may repeat another's text under another number.

    The first takes over the texts of the others, so leave out what may not be shown before you call this.
    """
    if not any(hit.issue.is_discussion for hit in hits):
        return hits
    by_url = {hit.issue.url: hit for hit in reversed(hits)}
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
    found = [(by_url[one.url], one) for one in collapse(documents)]
    return [
        replace(hit, issue=replace(hit.issue, body="\n\n".join(one.snippets)), sources=one.sources)
        for hit, one in found
    ]


def limit_results(answer: SourceResult, limit: int | None) -> SourceResult:
    """The answer with at most `limit` different results: those with the best ranks in any of its lists."""
    if limit is None:
        return answer
    by_rank = (issue.key for row in zip_longest(*answer.lists) for issue in row if issue is not None)
    kept = set(islice(dict.fromkeys(by_rank), limit))
    return replace(answer, lists=tuple(tuple(one for one in found if one.key in kept) for found in answer.lists))
