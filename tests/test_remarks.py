"""What went wrong is told with its values, by the bot itself or in the words of others."""

from __future__ import annotations

import pytest

from bot.domain.errors import Remark, RemarkCode, Unavailable, remark_from


@pytest.mark.parametrize("told", [RemarkCode.SEARCH_LIMIT.of(), RemarkCode.OTHERS.of("no {answer}")])
def test_a_failure_tells_what_it_was_raised_with(told: Remark) -> None:
    assert remark_from(Unavailable(told)) == told
    assert str(Unavailable(told)) == str(told)
    assert remark_from(Unavailable("no {answer}")) == RemarkCode.OTHERS.of("no {answer}")
