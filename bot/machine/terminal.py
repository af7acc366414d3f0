"""Makes strangers' texts safe for a terminal."""

from __future__ import annotations


def plain(text: str) -> str:
    """The text on one line, without control characters, which could move the cursor or hide what is there."""
    return "".join(char if char.isprintable() else " " for char in text)
