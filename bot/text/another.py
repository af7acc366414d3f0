"""Titles that say themselves that they tell of another one: by a number, or as a backport."""

from __future__ import annotations

import re

from bot.text.subject import subject

# It begins with a letter or sign of its own, so that no run of spaces is tried again and again.
_NUMBER = re.compile(r"(?:\((?:part )?(\d{1,3})\)|#(\d{1,3})|\bpart (\d{1,3}))\s*$", re.IGNORECASE)
_BACKPORT = re.compile(r"\b(?:back-?port|cherry-?pick)\b", re.IGNORECASE)


def says_another(title: str) -> bool:
    """Whether a title can be another one's by what it says itself, which `is_another` then decides."""
    return _asks_for_backport(title) or bool(_parted(title)[1])


def is_another(title: str, other: str) -> bool:
    """Whether `title` is `other` but for its number, as "Crash (2)" is "Crash" or "Crash #3", or asks for a backport.

    Whoever numbers a title knows the one before, and says that this is not the same; so does who wants a fix elsewhere.
    """
    if _asks_for_backport(title):
        return True
    mine, number = _parted(title)
    if not number:
        return False
    theirs, another = _parted(other)
    return number != another and mine == theirs


def _asks_for_backport(title: str) -> bool:
    """Whether it begins so, as "Backport: …", or says so in brackets at one end, as "[2.x backport] …".

    Elsewhere it may be what the issue is about.
    """
    title = title.strip()
    first = title[1:].partition("]")[0] if title.startswith("[") else title.partition(" ")[0]
    last = title.rpartition("[")[2] if title.endswith("]") else ""
    return bool(_BACKPORT.search(first) or _BACKPORT.search(last))


def _parted(title: str) -> tuple[str, str]:
    """A title without its number, and the number, empty if there is none."""
    title = subject(title).strip().casefold()
    found = _NUMBER.search(title)
    if found is None:
        return title, ""
    return title[: found.start()].rstrip(" \t:,.-"), next(filter(None, found.groups()))
