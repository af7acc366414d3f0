"""What is fused: one retrieved text with where it came from, and one source's ranked list of them (R1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any


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
