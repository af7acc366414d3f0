"""Logs and terminals say one of a thing as one."""

from __future__ import annotations

import pytest

from bot.domain.formats import counted


@pytest.mark.parametrize(
    ("number", "says"), [(0, "0 deliveries"), (1, "1 delivery"), (2, "2 deliveries"), (1_234, "1,234 deliveries")]
)
def test_one_is_no_plural(number: int, says: str) -> None:
    assert counted(number, "delivery", "deliveries") == says


def test_most_words_take_an_s() -> None:
    assert (counted(1, "row"), counted(2, "row")) == ("1 row", "2 rows")
