"""Merges the ranked lists of several sources into one by reciprocal rank fusion (R1–R6).

Only ranks count, because the scores of different searches have no common unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from bot.domain.formats import parse_time, parse_time_or_none


class SourceType(StrEnum):
    """The kinds of sources, for users of `bot.api`. The bot itself fuses all its lists as ISSUE."""

    CODE = "code"
    REVIEW_COMMENT = "review_comment"
    WIKI = "wiki"
    ISSUE = "issue"
    PULL_REQUEST = "pull_request"
    DISCUSSION = "discussion"


_LABEL_WORDS = {SourceType.REVIEW_COMMENT: "review", SourceType.PULL_REQUEST: "pull"}


def source_label(source: SourceType, name: str) -> str:
    """A source's label for people: `[code: file.ts]`, `[review: PR #123]`, `[issue: #12]`."""
    return f"[{_LABEL_WORDS.get(source, source.value)}: {name}]"


@dataclass(slots=True)
class UnifiedRetrievalChunk:
    """One retrieved text. Two chunks have the same `id` only if they are the same thing.

    `vector_distance` is the distance that the source reports, if any. The fusion sets `rrf_score`. `alternate_sources`
    has the labels of further places where the same thing was found. `created_at` may be text in ISO 8601.
    """

    id: str
    text: str
    source: SourceType
    source_label: str
    source_url: str | None = None
    vector_distance: float | None = None
    rrf_score: float | None = None
    created_at: datetime | str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    alternate_sources: list[str] = field(default_factory=list)

    def copy(self) -> UnifiedRetrievalChunk:
        """A copy; changes to it do not change this chunk (R6)."""
        return replace(self, metadata=dict(self.metadata), alternate_sources=list(self.alternate_sources))

    def also_found_as(self, other: UnifiedRetrievalChunk) -> None:
        """Add the labels of `other`, each once, except this chunk's own label."""
        for label in (other.source_label, *other.alternate_sources):
            if label != self.source_label and label not in self.alternate_sources:
                self.alternate_sources.append(label)


@dataclass(frozen=True, slots=True)
class RankedSourceList:
    """One source's results, best first. `weight` says how much the source's ranks count (H4)."""

    source: SourceType
    items: Sequence[UnifiedRetrievalChunk]
    weight: float = 1.0


Mode = Literal["within-corpus", "cross-corpus"]


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """|A∩B| / |A∪B|, in [0, 1]; 0 for two empty sets."""
    union = len(a | b)
    return len(a & b) / union if union else 0.0


def deduplicate_chunks(
    chunks: Sequence[UnifiedRetrievalChunk], similarity_threshold: float = 0.90, mode: Mode = "within-corpus"
) -> list[UnifiedRetrievalChunk]:
    """Drop chunks that repeat a better chunk; return copies of the others, best first.

    Chunks are compared best score first; a missing score counts as 0, and equal scores keep the given order. A chunk
    is dropped if the Jaccard index of its words and a kept chunk's words (lower case, split at white space) is at least
    `similarity_threshold`. The kept chunk gets the dropped chunk's source labels. The input is not changed.

    Use `within-corpus` before the fusion: it compares only chunks of the same source, so that a source gains nothing by
    repeating itself. Use `cross-corpus` after the fusion: it compares all chunks. Raises ValueError for another mode.
    """
    if mode not in ("within-corpus", "cross-corpus"):
        raise ValueError(f"mode: {mode!r} is neither 'within-corpus' nor 'cross-corpus'")
    kept: list[tuple[UnifiedRetrievalChunk, frozenset[str]]] = []
    for chunk in sorted(chunks, key=lambda chunk: -(chunk.rrf_score or 0.0)):
        tokens = frozenset(chunk.text.lower().split())
        for better, better_tokens in kept:
            if mode == "within-corpus" and better.source != chunk.source:
                continue
            if tokens and jaccard(tokens, better_tokens) >= similarity_threshold:
                better.also_found_as(chunk)
                break
        else:
            kept.append((chunk.copy(), tokens))
    return [chunk for chunk, _ in kept]


def cross_corpus_rrf(
    source_lists: Iterable[RankedSourceList],
    k: float = 60,
    top_k: int | None = None,
    recency_boost_days: float = 30,
    recency_boost_factor: float = 0.15,
    now: datetime | str | None = None,
) -> list[UnifiedRetrievalChunk]:
    """Merge the lists into one, best first: copies of the items with `rrf_score` set, at most `top_k` of them.

    An item's score is the sum over the lists of weight/(k + rank). Ranks start at 0, and only an id's best rank in a
    list counts (R2). Items with equal scores keep the order of their first occurrence. An item from several lists keeps
    the labels of all of them (H2).

    Recent items get their score multiplied by 1 + `recency_boost_factor`. An item is recent if it was created within
    `recency_boost_days` before `now`, or after `now` (a clock may be ahead). The default of `now` is the clock's time.
    Times without a zone are UTC. An item whose time cannot be parsed is never recent.

    Raises ValueError if `k` is not above 0, `top_k` is below 0, a factor or weight is not finite, or `now` is invalid.
    """
    # `not k > 0` also refuses NaN.
    if not k > 0:
        raise ValueError(f"k: {k} is not above 0")
    if top_k is not None and top_k < 0:
        raise ValueError(f"top_k: {top_k} is below 0")
    if not math.isfinite(recency_boost_factor):
        raise ValueError(f"recency_boost_factor: {recency_boost_factor} is not finite")
    merged: dict[str, UnifiedRetrievalChunk] = {}
    shares: dict[str, list[float]] = {}
    for ranked in source_lists:
        if not math.isfinite(ranked.weight):
            raise ValueError(f"weight: {ranked.weight} is not finite (list of {ranked.source})")
        seen: set[str] = set()
        for rank, item in enumerate(ranked.items):
            if item.id not in merged:
                merged[item.id] = item.copy()
            else:
                _merge(merged[item.id], item)
            if item.id not in seen:
                seen.add(item.id)
                shares.setdefault(item.id, []).append(ranked.weight / (k + rank))
    moment = parse_time(now or datetime.now(UTC))
    for item in merged.values():
        created = parse_time_or_none(item.created_at)
        # Compare seconds: Python cannot subtract a huge or infinite `recency_boost_days` from a date.
        recent = created is not None and (moment - created).total_seconds() <= recency_boost_days * 86_400
        # `fsum` is exact, so the order of the lists does not matter.
        item.rrf_score = math.fsum(shares[item.id]) * ((1 + recency_boost_factor) if recent else 1)
    return sorted(merged.values(), key=lambda item: -(item.rrf_score or 0.0))[:top_k]


def _merge(kept: UnifiedRetrievalChunk, other: UnifiedRetrievalChunk) -> None:
    """Add the labels of `other` to `kept`, and fill empty fields of `kept` from `other`."""
    kept.also_found_as(other)
    kept.metadata = {**other.metadata, **kept.metadata}
    kept.created_at = kept.created_at or other.created_at
    kept.source_url = kept.source_url or other.source_url
    kept.text = kept.text or other.text
    if kept.vector_distance is None:
        kept.vector_distance = other.vector_distance
