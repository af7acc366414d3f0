"""What is kept of a find's results, and what is not."""

from __future__ import annotations

from bot.domain.report import Reason, ReasonCode
from bot.search.finder.results import RankedResult, considered
from tests.matching.made import an_issue


def test_each_reason_is_kept_as_its_kind_without_the_words_that_it_quotes() -> None:
    found = [
        RankedResult(an_issue(3, "Crash"), 0.6, 0.6, reasons=(Reason(code, ("the secret of acme",)),))
        for code in ReasonCode
    ]
    kept = [one.reasons for one in considered(an_issue(9, "Crash"), found, {}, ())]
    assert kept == [(code.value,) for code in ReasonCode]
