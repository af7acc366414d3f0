"""R1–R6: several ranked lists become one, by reciprocal rank fusion.

Ranks are compared, never scores, because the scores of unlike searches have no common unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime

from bot.moments import read_moment
from bot.ranking.chunks import RankedSourceList, SourceType, UnifiedRetrievalChunk, source_label
from bot.ranking.deduplicate import deduplicate_chunks

__all__ = [
    "RankedSourceList",
    "SourceType",
    "UnifiedRetrievalChunk",
    "cross_corpus_rrf",
    "deduplicate_chunks",
    "source_label",
]


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
    UTC), or after it, as where another machine's clock is ahead. Equal scores keep the order in which the items were
    first met. An item found in several lists keeps the labels of all of them (H2).
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
        # In seconds, since a window of ever so many days, or without end, reaches before the first date there is.
        recent = (
            item.created_at is not None
            and item.created_at != ""
            and (moment - read_moment(item.created_at)).total_seconds() <= recency_boost_days * 86_400
        )
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
