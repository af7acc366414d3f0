"""Fusing what three searches of one's own found: code, review comments and wiki pages.

    .venv/bin/python docs/fuse_chunks.py

The three searches here are lists that were written down; in a pipeline they come from an index of vectors, from a
database, from anywhere. Only their order counts, so their scores need not have anything in common.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bot.api import (
    RankedSourceList,
    SourceType,
    UnifiedRetrievalChunk,
    cross_corpus_rrf,
    deduplicate_chunks,
    source_label,
)

NOW = datetime(2026, 3, 10, tzinfo=UTC)


def chunk(
    id: str, text: str, source: SourceType, name: str, created_at: datetime | None = None
) -> UnifiedRetrievalChunk:
    return UnifiedRetrievalChunk(id, text, source, source_label(source, name), created_at=created_at)


def main() -> None:
    retry = "Requests are repeated three times with exponential backoff, at most a minute in all."
    code = [
        chunk("code:1", "def fetch(url, retries=3): return backoff(url, retries)", SourceType.CODE, "http.py"),
        chunk("code:2", "def backoff(url, retries): wait 2 ** attempt seconds", SourceType.CODE, "backoff.py"),
        # The same lines once more, in a copy of the file: a source that repeats itself gains nothing.
        chunk("code:3", "def backoff(url, retries): wait 2 ** attempt seconds", SourceType.CODE, "vendor/backoff.py"),
    ]
    reviews = [
        chunk("review:1", "Why three retries? The gateway needs five.", SourceType.REVIEW_COMMENT, "PR #123", NOW),
        chunk("review:2", retry, SourceType.REVIEW_COMMENT, "PR #98"),
    ]
    wiki = [chunk("wiki:1", retry, SourceType.WIKI, "Retrying")]

    lists = [
        RankedSourceList(source, deduplicate_chunks(items, mode="within-corpus"))
        for source, items in (
            (SourceType.CODE, code),
            (SourceType.REVIEW_COMMENT, reviews),
            (SourceType.WIKI, wiki),
        )
    ]
    fused = cross_corpus_rrf(lists, now=NOW)
    for found in deduplicate_chunks(fused, mode="cross-corpus")[:4]:
        also = f"  (also {', '.join(found.alternate_sources)})" if found.alternate_sources else ""
        print(f"{found.rrf_score:.4f}  {found.source_label} {found.text}{also}")


if __name__ == "__main__":
    main()
