"""F6: the candidates of a title, scored and cut. A pure function that decides alone with `relevance="title"`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from bot.errors import InvalidArgument
from bot.moments import moment_or_none
from bot.ranking.similarity import dice_sorensen, title_ratio


class Titled(Protocol):
    """What scoring needs of a candidate. Of those that also have `created_at`, it decides who is older."""

    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...


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

    `target_number` is the target's own number: the target is no candidate of its own. Threshold 0.0 keeps every
    candidate, 1.0 only titles with equal bigram sets. Of equal ones the older comes first, because that is the one
    a duplicate would be closed in favour of: by `created_at` (times may be text in ISO 8601, and are UTC without a
    zone), and by number where that is missing or no time. `max_candidates` None keeps all. Raises InvalidArgument for a
    threshold outside 0 to 1, and for less than one candidate.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise InvalidArgument("threshold", f"{threshold!r} is not between 0 and 1")
    most = max_candidates
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise InvalidArgument("max_candidates", f"{most!r} is not 1 or more")
    scored = [
        ScoredTitle(candidate, similarity, title_ratio(target_title, candidate.title))
        for candidate in candidates
        if candidate.number != target_number
        and (similarity := dice_sorensen(target_title, candidate.title)) >= threshold
    ]
    scored.sort(key=lambda found: (-found.similarity, _created(found.candidate), found.candidate.number))
    return scored[:max_candidates]


def _created(candidate: Titled) -> datetime:
    return moment_or_none(getattr(candidate, "created_at", None)) or datetime.max.replace(tzinfo=UTC)
