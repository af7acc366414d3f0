"""What is kept of a find's report, and what is not."""

from __future__ import annotations

import pytest

from bot.domain.decisions import evidence
from bot.domain.report import Reason, ReasonCode
from tests.render.samples import considered, report


@pytest.mark.parametrize("shared", ReasonCode)
def test_each_reason_is_kept_as_its_kind_without_the_words_that_it_quotes(shared: ReasonCode) -> None:
    reason = Reason(shared, ("the secret of acme",))
    (kept,) = evidence(report(considered=(considered(3, 0.6, reasons=(reason,)),)), ())
    assert len(kept.reasons) == 1
    assert "secret" not in kept.reasons[0]


def test_no_two_reasons_are_kept_alike() -> None:
    kept = evidence(report(considered=(considered(3, 0.6, reasons=tuple(map(Reason, ReasonCode))),)), ())[0]
    assert len(set(kept.reasons)) == len(ReasonCode)
