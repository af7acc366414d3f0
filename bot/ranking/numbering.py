"""Titles that say by a number that they tell of another of the same kind."""

from __future__ import annotations

import re

# It begins with a letter or sign of its own, so that no run of spaces is tried again and again.
_NUMBER = re.compile(r"(?:\((?:part )?(\d{1,3})\)|#(\d{1,3})|\bpart (\d{1,3}))\s*$", re.IGNORECASE)


def is_numbered(title: str) -> bool:
    """Whether a title ends in such a number."""
    return bool(_parted(title)[1])


def is_another(title: str, other: str) -> bool:
    """Whether `title` is `other` but for its number, as "Crash (2)" is "Crash" or "Crash #3".

    Whoever numbers a title knows the one before, and says that this is not the same.
    """
    mine, number = _parted(title)
    if not number:
        return False
    theirs, another = _parted(other)
    return number != another and mine == theirs


def _parted(title: str) -> tuple[str, str]:
    """A title without its number, and the number, empty if there is none."""
    title = title.strip().casefold()
    found = _NUMBER.search(title)
    if found is None:
        return title, ""
    return title[: found.start()].rstrip(" \t:,.-"), next(filter(None, found.groups()))
