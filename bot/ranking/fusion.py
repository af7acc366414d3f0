"""R1–R6: several ranked lists become one, by reciprocal rank fusion.

Ranks are compared, never scores, because the scores of unlike searches have no common unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from bot.moments import moment_or_none, read_moment


class SourceType(StrEnum):
    """The kinds of corpora. The first three are general, the others are this bot's own."""

    CODE = "code"
    REVIEW_COMMENT = "review_comment"
    WIKI = "wiki"
    ISSUE = "issue"
    PULL_REQUEST = "pull_request"
    DISCUSSION = "discussion"


_LABEL_WORDS = {SourceType.REVIEW_COMMENT: "review", SourceType.PULL_REQUEST: "pull"}


def source_label(source: SourceType, name: str) -> str:
    """The label of a source as people read it: `[code: file.ts]`, `[review: PR #123]`, `[issue: #12]`."""
    return f"[{_LABEL_WORDS.get(source, source.value)}: {name}]"


@dataclass(slots=True)
class UnifiedRetrievalChunk:
    """One retrieved text. `id` is the same wherever the same thing is found; different things have different ids.

    `vector_distance` is the source's own distance where it measures one; `rrf_score` is set by the fusion;
    `alternate_sources` are the labels of the other places where the same thing was found. `created_at` may be text in
    ISO 8601, as JSON has it.
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
        """A copy that can be changed without changing this one (R6)."""
        return replace(self, metadata=dict(self.metadata), alternate_sources=list(self.alternate_sources))

    def also_found_as(self, other: UnifiedRetrievalChunk) -> None:
        """Note the label and the alternates of `other`, each once, and never this chunk's own label."""
        for label in (other.source_label, *other.alternate_sources):
            if label != self.source_label and label not in self.alternate_sources:
                self.alternate_sources.append(label)


@dataclass(frozen=True, slots=True)
class RankedSourceList:
    """What one source answered, best first. `weight` is how much its ranks count beside the others' (H4)."""

    source: SourceType
    items: Sequence[UnifiedRetrievalChunk]
    weight: float = 1.0


Mode = Literal["within-corpus", "cross-corpus"]


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """|A∩B| / |A∪B|, in [0, 1]; two empty sets are not alike."""
    union = len(a | b)
    return len(a & b) / union if union else 0.0


def deduplicate_chunks(
    chunks: Sequence[UnifiedRetrievalChunk], similarity_threshold: float = 0.90, mode: Mode = "within-corpus"
) -> list[UnifiedRetrievalChunk]:
    """The chunks without those whose words are those of a better one, as copies, best first.

    They are walked by score where there is one, else in the order given. One whose Jaccard similarity (lower-cased
    white-space tokens) to a kept one is at least `similarity_threshold` is dropped, and the kept one notes its source
    label and its alternates. `within-corpus`, used before fusion, compares inside one source only, so that a source
    that repeats itself gains nothing; `cross-corpus`, used after, compares all. The input is not changed.
    """
    if mode not in ("within-corpus", "cross-corpus"):
        raise ValueError(f"mode: {mode!r} is neither 'within-corpus' nor 'cross-corpus'")
    kept: list[tuple[UnifiedRetrievalChunk, frozenset[str]]] = []
    for chunk in sorted(chunks, key=_by_score):
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


def _by_score(chunk: UnifiedRetrievalChunk) -> float:
    """Sorting is stable, so chunks without a score keep the order they came in."""
    return 0.0 if chunk.rrf_score is None else -chunk.rrf_score


def cross_corpus_rrf(
    source_lists: Iterable[RankedSourceList],
    k: float = 60,
    top_k: int | None = None,
    recency_boost_days: float = 30,
    recency_boost_factor: float = 0.15,
    now: datetime | str | None = None,
) -> list[UnifiedRetrievalChunk]:
    """One list of all items, best first, as copies with `rrf_score` set; at most `top_k` of them.

    An item's score is the sum over the lists of weight/(k + rank), rank counted from 0 and only the best rank of an id
    in one list (R2; a list weighs 1 unless it says otherwise). It is multiplied by 1 + `recency_boost_factor` where the
    item was created within `recency_boost_days` before `now` (the clock's time if not given; times without a zone are
    UTC), or after it, as where another machine's clock is ahead. What cannot be read as a time has no age. Equal scores
    keep the order in which the items were first met. An item found in several lists keeps the labels of all (H2).
    """
    # Written so that NaN, by which nothing can be sorted, is refused too.
    if not k > 0:
        raise ValueError(f"k: {k} is not above 0")
    if top_k is not None and top_k < 0:
        raise ValueError(f"top_k: {top_k} is below 0")
    if not math.isfinite(recency_boost_factor):
        raise ValueError(f"recency_boost_factor: {recency_boost_factor} is nothing to multiply by")
    merged: dict[str, UnifiedRetrievalChunk] = {}
    shares: dict[str, list[float]] = {}
    for ranked in source_lists:
        if not math.isfinite(ranked.weight):
            raise ValueError(f"weight: {ranked.weight} is nothing to multiply by, in the list of {ranked.source}")
        seen: set[str] = set()
        for rank, item in enumerate(ranked.items):
            if item.id not in merged:
                merged[item.id] = item.copy()
            else:
                _merge(merged[item.id], item)
            if item.id not in seen:
                seen.add(item.id)
                shares.setdefault(item.id, []).append(ranked.weight / (k + rank))
    moment = read_moment(now or datetime.now(UTC))
    for item in merged.values():
        created = moment_or_none(item.created_at)
        # In seconds, since a window of ever so many days, or without end, reaches before the first date there is.
        recent = created is not None and (moment - created).total_seconds() <= recency_boost_days * 86_400
        # The exact sum: added up one by one, the same ranks in another order of lists may make another score.
        item.rrf_score = math.fsum(shares[item.id]) * (1 + recency_boost_factor if recent else 1)
    return sorted(merged.values(), key=lambda item: -(item.rrf_score or 0.0))[:top_k]


def _merge(kept: UnifiedRetrievalChunk, other: UnifiedRetrievalChunk) -> None:
    """What only `other` knows is added; what `kept` knows stays."""
    kept.also_found_as(other)
    kept.metadata = {**other.metadata, **kept.metadata}
    kept.created_at = kept.created_at or other.created_at
    kept.source_url = kept.source_url or other.source_url
    kept.text = kept.text or other.text
    if kept.vector_distance is None:
        kept.vector_distance = other.vector_distance
