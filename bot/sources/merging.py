"""H2, R: the lists of all sources become one, and what several found keeps the names of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest

from bot.config.model import SourceConfig
from bot.model import Issue, Likeness
from bot.ranking.fusion import (
    RankedSourceList,
    SourceType,
    UnifiedRetrievalChunk,
    cross_corpus_rrf,
    source_label,
)
from bot.ranking.same import Document, collapse
from bot.sources.protocol import Answer

_USUAL = SourceConfig()


@dataclass(frozen=True, slots=True)
class Hit:
    """A result with every source that found it: an issue, or what comes in the shape of one.

    `likeness` is what GitHub says of it, where it ranked it.
    """

    issue: Issue
    sources: tuple[str, ...]
    likeness: Likeness | None = None


def merge(answers: Iterable[Answer], now: datetime, use: Mapping[str, SourceConfig] | None = None) -> list[Hit]:
    """Every result once, best first by reciprocal rank over all lists, the recent ones a little ahead (R3).

    `use` are the sources' settings: a list's ranks count by its source's weight.
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
                chunks.append(_chunk(key, issue))
            lists.append(RankedSourceList(SourceType.ISSUE, chunks, weight))
    return [
        Hit(issues[chunk.id], tuple(sources[chunk.id]), likeness.get(chunk.id))
        for chunk in cross_corpus_rrf(lists, now=now)
    ]


def collapsed(hits: Sequence[Hit]) -> Sequence[Hit]:
    """H3: discussions that say the same are one result, since one may repeat another's text under another number.

    The first takes the place of all of them, so that what may not be told has to be left out before.
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


def limited(answer: Answer, limit: int | None) -> Answer:
    """The answer with so many different results at most: those with the best ranks in any of its lists."""
    if limit is None:
        return answer
    kept: dict[str, None] = {}
    for row in zip_longest(*answer.lists):
        for issue in row:
            if issue is not None and len(kept) < limit:
                kept[issue.key] = None
    return replace(answer, lists=tuple(tuple(one for one in found if one.key in kept) for found in answer.lists))


def _chunk(key: str, issue: Issue) -> UnifiedRetrievalChunk:
    kind = SourceType.PULL_REQUEST if issue.is_pull_request else SourceType.ISSUE
    label = source_label(SourceType.DISCUSSION if issue.is_discussion else kind, f"#{issue.number}")
    return UnifiedRetrievalChunk(key, issue.title, SourceType.ISSUE, label, issue.url, created_at=issue.created_at)
