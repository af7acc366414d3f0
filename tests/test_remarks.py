"""What went wrong is told with its values, by the bot itself or in the words of others."""

from __future__ import annotations

import pytest

from bot.domain.errors import Failed, Remark, Told, Unavailable, told_by


def test_a_remark_keeps_its_values_and_reads_as_a_sentence() -> None:
    told = Remark.LEFT_OUT.of(1, 2)
    assert (told.remark, told.values) == (Remark.LEFT_OUT, (1, 2))
    assert str(Failed("siblings", told)).startswith("siblings: 1 of 2 left out")


@pytest.mark.parametrize("told", [Remark.SEARCH_LIMIT.of(), Remark.OTHERS.of("no {answer}")])
def test_a_failure_tells_what_it_was_raised_with(told: Told) -> None:
    assert told_by(Unavailable(told)) == told
    assert str(Unavailable(told)) == str(told)
    assert told_by(Unavailable("no {answer}")) == Remark.OTHERS.of("no {answer}")
