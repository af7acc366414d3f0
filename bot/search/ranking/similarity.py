"""The similarity of two titles: Dice-Sørensen on bigrams (F5), and rapidfuzz's ratio as a second opinion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

from rapidfuzz import fuzz

from bot.domain.errors import InvalidArgument
from bot.domain.formats import parse_time_or_none
from bot.text.words import split_words


@lru_cache(maxsize=256)
def bigrams(text: str) -> frozenset[tuple[str, str]]:
    """The set of character pairs of the trimmed, lower-cased text; empty for fewer than 2 characters."""
    return frozenset(pairwise(text.strip().lower()))


def dice_sorensen(a: str, b: str) -> float:
    """F5: 2·|A∩B| / (|A|+|B|) on the *sets* of `bigrams`; symmetric, in [0, 1].

    Equal strings get 1.0, even if both are empty. Unequal strings get 0.0 if either has fewer than 2 characters.
    """
    if a.strip().lower() == b.strip().lower():
        return 1.0
    left, right = bigrams(a), bigrams(b)
    if not left or not right:
        return 0.0
    return 2 * len(left & right) / (len(left) + len(right))


def title_ratio(a: str, b: str) -> float:
    """Rapidfuzz's ratio of the sorted lower-cased words, in [0, 1]; word order and punctuation do not matter."""
    left, right = (" ".join(split_words(text.lower())) for text in (a, b))
    if not left or not right:
        return 1.0 if a.strip() == b.strip() else 0.0
    return fuzz.token_sort_ratio(left, right) / 100


class Titled(Protocol):
    """A candidate for scoring by title. An optional `created_at` shows which of two candidates is older."""

    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...


T = TypeVar("T", bound=Titled)


@dataclass(frozen=True, slots=True)
class ScoredTitle(Generic[T]):
    """A candidate with its two title similarities in [0, 1]; `title_ratio` punishes repetition."""

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

    The target itself (`target_number`) is left out. Threshold 0.0 keeps every candidate, 1.0 only titles with equal
    bigram sets. `max_candidates` None keeps all candidates. Raises InvalidArgument for a threshold outside 0 to 1, and
    for a `max_candidates` below 1.

    Of equally similar candidates the oldest comes first, because duplicates are closed in favour of the older issue.
    `created_at` may be ISO 8601 text; without a zone, it is in UTC. Candidates without a time come last, by number.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise InvalidArgument("threshold", f"{threshold!r} is not between 0 and 1")
    is_integer = isinstance(max_candidates, int) and not isinstance(max_candidates, bool)
    if max_candidates is not None and not (is_integer and max_candidates >= 1):
        raise InvalidArgument("max_candidates", f"{max_candidates!r} is not 1 or more")
    scored = [
        ScoredTitle(candidate, similarity, title_ratio(target_title, candidate.title))
        for candidate in candidates
        if candidate.number != target_number
        and (similarity := dice_sorensen(target_title, candidate.title)) >= threshold
    ]
    scored.sort(key=lambda found: (-found.similarity, _created(found.candidate), found.candidate.number))
    return scored[:max_candidates]


def _created(candidate: Titled) -> datetime:
    return parse_time_or_none(getattr(candidate, "created_at", None)) or datetime.max.replace(tzinfo=UTC)
