"""Scores candidates by their titles and cuts the list (F6). With `relevance="title"` this decides alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from bot.errors import InvalidArgument
from bot.moments import read_moment
from bot.ranking.similarity import dice_sorensen, title_ratio


class Titled(Protocol):
    """What is needed of a candidate; `bot.model.Issue` has it."""

    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def created_at(self) -> datetime | str: ...


T = TypeVar("T", bound=Titled)


@dataclass(frozen=True, slots=True)
class ScoredTitle(Generic[T]):
    """A candidate with its two title similarities, both in [0, 1]."""

    candidate: T
    similarity: float
    title_ratio: float


def score_candidates(
    target_title: str,
    candidates: Iterable[T],
    threshold: float = 0.3,
    max_candidates: int | None = 10,
    *,
    target_number: int | None = None,
) -> list[ScoredTitle[T]]:
    """The candidates whose title similarity (F5) is at least `threshold`, most similar first, at most `max_candidates`.

    The target itself, number `target_number`, is left out. Threshold 0.0 keeps every candidate, 1.0 only titles with
    equal bigram sets. Among equals the older comes first, because a duplicate is closed in favour of the older
    issue. Times may be text in ISO 8601, and are UTC without a zone. `max_candidates` None keeps all. Raises
    InvalidArgument if `threshold` is not a number or `max_candidates` is negative.
    """
    if math.isnan(threshold):
        raise InvalidArgument("threshold", f"{threshold!r} is not a number")
    if max_candidates is not None and max_candidates < 0:
        raise InvalidArgument("max_candidates", f"{max_candidates!r} is below 0")
    scored = [
        ScoredTitle(candidate, similarity, title_ratio(target_title, candidate.title))
        for candidate in candidates
        if candidate.number != target_number
        and (similarity := dice_sorensen(target_title, candidate.title)) >= threshold
    ]
    scored.sort(key=lambda found: (-found.similarity, read_moment(found.candidate.created_at), found.candidate.number))
    return scored[:max_candidates]
