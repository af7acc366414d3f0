"""How alike two titles are: Dice-Sørensen on bigrams (F5), and rapidfuzz as a second opinion."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from rapidfuzz import fuzz

from bot.text.words import split_words


@lru_cache(maxsize=256)
def bigrams(text: str) -> frozenset[tuple[str, str]]:
    """The set of character pairs of the trimmed, lower-cased text; empty for fewer than 2 characters."""
    return frozenset(pairwise(text.strip().lower()))


def dice_sorensen(a: str, b: str) -> float:
    """F5: 2·|A∩B| / (|A|+|B|) on *sets* of bigrams of the trimmed, lower-cased strings; symmetric, in [0, 1].

    Equal strings, also empty ones, are 1.0. Unequal ones are 0.0 if either has fewer than 2 characters.
    """
    if a.strip().lower() == b.strip().lower():
        return 1.0
    left, right = bigrams(a), bigrams(b)
    if not left or not right:
        return 0.0
    return 2 * len(left & right) / (len(left) + len(right))


def title_ratio(a: str, b: str) -> float:
    """Rapidfuzz's ratio of the sorted lower-cased words, in [0, 1]; word order and punctuation do not matter.

    It is shown beside Dice-Sørensen because it forgives another word order, and punishes repetition.
    """
    left, right = (" ".join(split_words(text.lower())) for text in (a, b))
    if not left or not right:
        return 1.0 if a.strip() == b.strip() else 0.0
    return fuzz.token_sort_ratio(left, right) / 100
