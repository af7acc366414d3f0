"""The bot's own sentences about its searches are told from those of others."""

from __future__ import annotations

import pytest

from bot.remarks import Remark, recognise


@pytest.mark.parametrize("remark", Remark)
def test_each_is_recognised_with_what_it_holds(remark: Remark) -> None:
    values = ("a, b: c",) if remark is Remark.BY_WORDS else (7, 12)[: remark.count("{")]
    assert recognise(remark.of(*values)) == (remark, tuple(map(str, values)))


@pytest.mark.parametrize("said", ["", "7", "some not found", "issue 7: 404 not found", "GitHub did not answer in time"])
def test_what_others_say_stays_theirs(said: str) -> None:
    assert recognise(said) == (None, ())
