"""A number with what it counts, in English: for logs and terminals. What stands on GitHub has `bot/words/`. Pure."""

from __future__ import annotations


def counted(number: int, what: str, several: str = "") -> str:
    """`1 issue`, `1,234 issues`; `several` where that takes more than an s."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"
