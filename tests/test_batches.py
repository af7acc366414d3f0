"""Parts of what is too much at once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.domain.formats import batches


@pytest.mark.parametrize(
    ("items", "parts"), [("", []), ("ab", ["ab"]), ("abc", ["abc"]), ("abcdefg", ["abc", "def", "g"])]
)
def test_all_come_in_their_order_and_none_together_with_too_many(items: Sequence[str], parts: list[str]) -> None:
    assert list(batches(items, 3)) == parts
