"""What holds of every recommended threshold, and of what is said of it, whatever the figures."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.likelihood import wilson
from bot.quality.evaluation import wording as words
from bot.quality.evaluation.figures import (
    BEARABLE,
    FEW,
    LEAST,
    LISTED_THRESHOLDS,
    Advice,
    AdviceReason,
    advise,
    evaluate,
)
from bot.quality.evaluation.measures import JudgedArrival, ThresholdOutcome, outcome_at
from tests.evaluation.made_up import START

LEVELS = st.sampled_from([step / 20 for step in range(21)])
KINDS = st.sampled_from([frozenset({1}), None])
ARRIVALS = st.lists(st.tuples(KINDS, LEVELS, st.booleans(), st.integers(1, 400)), min_size=1, max_size=25)


def advised(
    arrivals: list[tuple[frozenset[int] | None, float, bool, int]],
) -> tuple[list[ThresholdOutcome], Advice, int]:
    """What is recommended for issues given as (originals, confidence, whether the candidate is one, how many)."""
    judged = [
        JudgedArrival(number, START, originals, ((1 if right else 2, sure),) if sure else (), weight)
        for number, (originals, sure, right, weight) in enumerate(arrivals)
    ]
    cuts = [outcome_at(judged, cut) for cut in sorted(LISTED_THRESHOLDS)]
    silent = sum(weight for originals, _, _, weight in arrivals if originals is None)
    return cuts, advise(cuts, FEW, silent), silent


@pytest.mark.slow
@given(ARRIVALS)
def test_what_is_recommended_bothers_few_and_no_better_one_was_passed_over(
    arrivals: list[tuple[frozenset[int] | None, float, bool, int]],
) -> None:
    cuts, advice, silent = advised(arrivals)
    quiet = [row for row in cuts if row.caught and wilson(row.false_alarms, silent)[1] <= BEARABLE]
    useful = [row for row in quiet if row.cut >= LEAST]
    chosen = next((row for row in cuts if row.cut == advice.threshold), None)
    if chosen is None:
        assert not useful
        return
    assert chosen in useful
    assert all((row.caught, row.cut) <= (chosen.caught, chosen.cut) for row in useful)


@pytest.mark.slow
@given(ARRIVALS, LEVELS)
def test_one_more_false_alarm_never_lowers_the_threshold(
    arrivals: list[tuple[frozenset[int] | None, float, bool, int]], sure: float
) -> None:
    """An issue that nobody marked gets a comment at a confidence instead of none."""
    _, before, _ = advised([*arrivals, (None, 0.0, False, 1)])
    _, after, _ = advised([*arrivals, (None, sure, False, 1)])
    if before.reason is after.reason is AdviceReason.CATCHES:
        assert before.threshold is not None and after.threshold is not None
        assert after.threshold >= before.threshold
    assert before.reason is AdviceReason.CATCHES or after.reason is not AdviceReason.CATCHES


@pytest.mark.slow
@settings(max_examples=20)
@given(ARRIVALS, LEVELS)
def test_the_sentences_count_in_whole_numbers_that_fit_each_other(
    arrivals: list[tuple[frozenset[int] | None, float, bool, int]], threshold: float
) -> None:
    judged = [
        JudgedArrival(number, START + timedelta(days=number), originals, ((1 if right else 2, sure),) if sure else ())
        for number, (originals, sure, right, _) in enumerate(arrivals)
    ]
    found = evaluate(judged, issues=len(judged), arrived=[one.arrived for one in judged], min_confidence=threshold)
    for said in (words.last_month(found), words.history(found)):
        sentence = re.sub(r"\d{4}-\d\d-\d\d", "", said).partition("would")[2].partition(")")[0].partition(": ")
        comments, issues = map(int, re.findall(r"(?<![.\d])\d+(?![.\d%])", sentence[0]))
        same = [int(number) for number in re.findall(r"(\d+) by (?:confidence|mark)", sentence[2])]
        assert all(number <= comments <= issues <= len(judged) for number in same) and comments <= issues
        assert len(same) == ((2 if found.retrieval.queries else 1) if comments else 0)
    assert f"At {words.threshold(threshold)} it" in words.last_month(found)
