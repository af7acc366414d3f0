"""What is too much at once, part by part. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """All items in their order, `size` (1 at least) together; fewer in the last part."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
