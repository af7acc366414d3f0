"""Finds what a title is about, and whether two titles alone show that their issues differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz
from rapidfuzz.distance import Postfix, Prefix

from bot.text.words import split_words

_PLAIN = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}


def plain(text: str) -> str:
    """Replace full-width characters by ASCII: `＃１２` by `#12`."""
    return text.translate(_PLAIN)


# Many forms, and many people, begin titles with the kind of the issue: "[Bug]: " or "🐛". Remove this prefix, because
# it would give unrelated titles a common word and a common topic (the part before a colon).
_KIND = r"(?:bug(?:[ -]?report)?|issue|feat(?:ure)?|feature[ -]?request|enhancement|question)"
# Spaces, emoji, and invisible marks, which come with pasted text.
_DECORATION = r"[\s\u200b-\u200f\u2060-\u2069\ufeff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
# The kind must stand in brackets, or before a colon or a dash: "Bug in the pump" is a sentence.
_KIND_PREFIX = re.compile(
    rf"\A{_DECORATION}*(?:[*\[(【:]{{0,4}}{_KIND}(?:\*{{0,2}}[\])】:]|\s[-–—|]\s)[*\])】:]*(?:\s*[-–—|:]\s)?\s*)?",
    re.IGNORECASE,
)

# A form's placeholder for a title: a bracket with a request, such as "[short description]".
_REQUEST = r"(?:replace|insert|enter|write|fill|describe|add|put|please|your|a|an|the|short|brief|concise)"
_UNFILLED = re.compile(rf"\A\s*(?:[\w./-]+:)?\s*[\[<({{]\s*{_REQUEST}\s[^\])>}}]*[\])>}}]\s*\Z", re.IGNORECASE)

# A title with only these words does not say what its issue is about (P3).
_GENERIC_WORDS = """
a an the this that my our your it its is are was in on at of for with to from and or not no when while after i we you
app application assertion big broken bug bugs crash crashed crashes crashing error errors exception exceptions fail
failed failing fails failure fatal fix generic got happened help internal issue issues found new occurred occurs please
plz problem problems program question questions random report reported reports request runtime serious session software
something strange sudden suddenly tool traceback trouble unexpected uncaught unhandled unknown untitled urgent weird
work working works wrong
absturz fehler probleme erreur plantage problème bogue erro falha fallo problema problemas ошибка сбой 错误 崩溃 エラー
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())


def says_nothing(title: str) -> bool:
    """Whether a title would fit any issue, as do "Bug", "[Bug]: " and "Unhandled error in session" (P3)."""
    return all(word in _GENERIC or word.isdigit() for word in split_words(subject(title).lower()))


def is_unfilled(title: str) -> bool:
    """Whether a title is still the form's placeholder, like "tour: [short description of the issue]"."""
    return bool(_UNFILLED.match(subject(title)))


def subject(title: str) -> str:
    """Remove decoration and the kind of issue from the beginning of a title. Full-width characters become ASCII.

    If nothing would be left, the title stays complete.
    """
    title = title if title.isascii() else plain(title)
    return _KIND_PREFIX.sub("", title) or title


# No alternative begins with a space: otherwise a long run of spaces would take quadratic time.
_NUMBER = re.compile(r"(?:\((?:part )?(\d{1,3})\)|#(\d{1,3})|\bpart (\d{1,3}))\s*$", re.IGNORECASE)
_BACKPORT = re.compile(r"\b(?:back-?port|cherry-?pick)\b", re.IGNORECASE)


def numbered_apart(title: str, others: Iterable[str]) -> list[bool]:
    """For each other title, whether it differs from `title` only in its number, like "Crash (2)" and "Crash #3".

    If `title` asks for a backport, every result is True. The author of such a title knows the other issue, and means
    a different one.
    """
    backport, (mine, my_number) = _asks_for_backport(title), _split_number(title)
    if backport or not my_number:
        return [backport for _ in others]  # All True for a backport, else all False.
    return [mine == theirs and my_number != number for theirs, number in map(_split_number, others)]


def _asks_for_backport(title: str) -> bool:
    """Whether "backport" or "cherry-pick" is in a title's first word, or in brackets at either end: "[2.x backport] …".

    Anywhere else, the word may name the problem itself.
    """
    title = title.strip()
    first = title[1:].partition("]")[0] if title.startswith("[") else title.partition(" ")[0]
    last = title.rpartition("[")[2] if title.endswith("]") else ""
    return bool(_BACKPORT.search(first) or _BACKPORT.search(last))


def _split_number(title: str) -> tuple[str, str]:
    """The title without its number, and the number; "" if the title has no number."""
    title = subject(title).strip().casefold()
    found = _NUMBER.search(title)
    if found is None:
        return title, ""
    return title[: found.start()].rstrip(" \t:,.-"), next(filter(None, found.groups()))


#: Siblings share at least LEAST_SAME words. They differ in one place, where each has at most MOST_SWAPPED words.
LEAST_SAME, MOST_SWAPPED = 3, 2
# Words that are at least this similar (of 100) count as one word in another spelling or form.
_SAME_WORD_RATIO = 75


def siblings(title: str, others: Iterable[str]) -> list[bool]:
    """For each of the other titles, whether it differs from `title` in one or two words in one place.

    Examples are "iOS: scrolling is slow" and "Android: scrolling is slow". "crashes" and "crash" count as the same
    word, but two different numbers never do.

    Two people who report the same thing seldom write titles that differ in one word. People who report a thing for
    another platform, function or version repeat the sentence and change that word. In five trackers, 211 first
    candidates had such a title and a probability of 10 % or more. The model expected 42 duplicates; only 10 were real.
    """
    words = split_words(subject(title).lower())
    if len(words) <= LEAST_SAME:
        return [False for _ in others]
    return [_are_siblings(words, split_words(subject(other).lower())) for other in others]


def _are_siblings(words: Sequence[str], other_words: Sequence[str]) -> bool:
    same_before = Prefix.similarity(words, other_words)
    mine, theirs = words[same_before:], other_words[same_before:]
    same_after = Postfix.similarity(mine, theirs)
    mine, theirs = mine[: len(mine) - same_after], theirs[: len(theirs) - same_after]
    if same_before + same_after < LEAST_SAME or not (0 < len(mine) <= MOST_SWAPPED and 0 < len(theirs) <= MOST_SWAPPED):
        return False
    here, there = "".join(mine), "".join(theirs)
    if any(sign.isdigit() for sign in here + there):
        return True
    return fuzz.ratio(here, there) < _SAME_WORD_RATIO
