"""H2, R: the lists of all sources become one, and an issue found by several keeps the names of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.model import Issue
from bot.ranking.fusion import (
    RankedSourceList,
    SourceType,
    UnifiedRetrievalChunk,
    cross_corpus_rrf,
    source_label,
)
from bot.sources.protocol import Answer


@dataclass(frozen=True, slots=True)
class Hit:
    """An issue with every source that found it."""

    issue: Issue
    sources: tuple[str, ...]


def merge(answers: Iterable[Answer], now: datetime) -> list[Hit]:
    """Every issue once, best first by reciprocal rank over all lists, the recent ones a little ahead (R3)."""
    issues: dict[str, Issue] = {}
    sources: dict[str, dict[str, None]] = {}
    lists = []
    for answer in answers:
        for found in answer.lists:
            chunks = []
            for issue in found:
                # GitHub compares names without case; nothing but this makes two issues one (H3).
                key = f"{issue.repo.owner}/{issue.repo.name}#{issue.number}".lower()
                issues.setdefault(key, issue)
                sources.setdefault(key, {})[answer.source] = None
                chunks.append(_chunk(key, issue))
            lists.append(RankedSourceList(SourceType.ISSUE, chunks))
    return [Hit(issues[chunk.id], tuple(sources[chunk.id])) for chunk in cross_corpus_rrf(lists, now=now)]


def _chunk(key: str, issue: Issue) -> UnifiedRetrievalChunk:
    label = source_label(SourceType.ISSUE, f"#{issue.number}")
    return UnifiedRetrievalChunk(key, issue.title, SourceType.ISSUE, label, issue.url, created_at=issue.created_at)


def counts(answers: Iterable[Answer], hits: Iterable[Hit]) -> Mapping[str, int]:
    """H4: how many results there were in all, how many different issues, and how many each source found."""
    answers, hits = list(answers), list(hits)
    total = sum(len(found) for answer in answers for found in answer.lists)
    per_source = {answer.source: sum(answer.source in hit.sources for hit in hits) for answer in answers}
    return {"total": total, "unique": len(hits), "duplicates": total - len(hits), **per_source}
