"""A number with what it counts, in English: for logs and terminals. What stands on GitHub has
`bot/conversation/words/`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar


def counted(number: int, what: str, several: str = "") -> str:
    """`1 issue`, `1,234 issues`; `several` where that takes more than an s."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"


T = TypeVar("T")


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """All items in their order, `size` (1 at least) together; fewer in the last part."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
