"""R5: the same text found twice is shown once, with both places named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.ranking.chunks import UnifiedRetrievalChunk

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
