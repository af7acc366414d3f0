"""What a look and a piece of its evidence tell about an issue of a given number, and what is kept of results."""

from __future__ import annotations

import pytest

from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.report import Evidence, Reason, ReasonCode
from bot.search.finder.results import RankedResult, considered
from tests.matching.made import an_issue


@pytest.mark.parametrize(
    ("found", "about"),
    [
        (Evidence(3, 0.6, 1, True), True),
        (Evidence(8, 0.6, 1, True, also=(2, 3)), True),
        (Evidence(8, 0.6, 1, True), False),
        # Numbers of other repositories, and of what is no issue, say nothing about the issue that has the same.
        (Evidence(3, 0.6, 1, True, repo="acme/lib"), False),
        (Evidence(8, 0.6, 1, True, also=(3,), repo="acme/lib"), False),
        (Evidence(3, 0.6, 1, True, kind="pull request"), False),
    ],
)
def test_c7_what_is_said_of_a_number_is_said_of_an_issue_of_this_repository(found: Evidence, about: bool) -> None:
    assert found.is_about(3) is about


def test_h6_what_is_shown_of_another_repository_is_no_issue_of_this_one() -> None:
    evidence = (
        Evidence(7, 0.9, 1, shown=True, repo="acme/lib"),
        Evidence(1, 0.8, 2, shown=True),
        Evidence(2, 0.1, 3, shown=False),
    )
    look = Decision(9, 10.0, "opened", "comment", DecisionOutcome.POSTED, 0.2, "", evidence)
    assert [one.number for one in look.shown] == [1]


def test_each_reason_is_kept_as_its_kind_without_the_words_that_it_quotes() -> None:
    found = [
        RankedResult(an_issue(3, "Crash"), 0.6, 0.6, reasons=(Reason(code, ("the secret of acme",)),))
        for code in ReasonCode
    ]
    kept = [one.reasons for one in considered(an_issue(9, "Crash"), found, {}, ())]
    assert kept == [(code.value,) for code in ReasonCode]
