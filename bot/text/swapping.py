"""Titles that tell of siblings: the same sentence about something else, as "iOS: scrolling is slow" and "Android: …".

Who reports the same thing again seldom finds the very words that another has found, but for one. Who reports the same
of another platform, function or version takes the sentence as it is and puts that into its place. Of 211 such first
candidates that were called 10 % or more (golang-go, Titanium, Rust, Hadoop and SeaMonkey) 10 were the same issue, where
42 were expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz

from bot.text.subject import subject
from bot.text.words import split_words

#: At least so many words are the same, and at most so many stand in the place of others.
LEAST_SAME, MOST_SWAPPED = 3, 2
# From this likeness on, of 100, what differs is the same word spelt or bent otherwise.
_SPELT_OTHERWISE = 75


def siblings(title: str, others: Iterable[str]) -> list[bool]:
    """Of each of the others whether the two are the same but for one or two words in one place, which are others.

    "crashes" for "crash" is the same word; a number for another one never is.
    """
    words = split_words(subject(title).lower())
    if len(words) <= LEAST_SAME:
        return [False for _ in others]
    first, last = words[0], words[-1]
    lowered = (subject(other).lower() for other in others)
    # Nearly all have neither the first word nor the last.
    return [(first in other or last in other) and _are_siblings(words, split_words(other)) for other in lowered]


def _are_siblings(words: Sequence[str], others: Sequence[str]) -> bool:
    shorter = min(len(words), len(others))
    before = 0
    while before < shorter and words[before] == others[before]:
        before += 1
    after = 0
    while after < shorter - before and words[-1 - after] == others[-1 - after]:
        after += 1
    mine, theirs = words[before : len(words) - after], others[before : len(others) - after]
    if before + after < LEAST_SAME or not (0 < len(mine) <= MOST_SWAPPED and 0 < len(theirs) <= MOST_SWAPPED):
        return False
    here, there = "".join(mine), "".join(theirs)
    if any(sign.isdigit() for sign in here + there):
        return True
    return fuzz.ratio(here, there) < _SPELT_OTHERWISE
