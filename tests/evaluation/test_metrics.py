"""The figures, against a slow and literal reading of the protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.quality.evaluation.figures import Evaluation, evaluate
from bot.quality.evaluation.measures import (
    LEAST_LISTED,
    LISTED,
    JudgedArrival,
    Unmarked,
    confidence_calibration,
    likeliest,
    outcome_at,
    retrieval,
    split,
    threshold_for_share,
)
from bot.quality.evaluation.trial import labels_of, truth
from bot.quality.replay.archive import archive_of
from tests.evaluation import reference

START = datetime(2024, 1, 1, tzinfo=UTC)
MARKS = ("maybe_related", "dup_unknown_master", "body_mentions_master")


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[int, list[tuple[int, float]]]]:
    """Issues with links to earlier ones, later ones and unknown ones; candidates for some, best first."""
    count = draw(st.integers(1, 24))
    rows: list[dict[str, Any]] = []
    for number in range(count):
        moment = START + timedelta(hours=draw(st.integers(0, 30)))
        row: dict[str, Any] = {"id": number, "created_at": moment.isoformat()}
        row["duplicate_of"] = draw(st.none() | st.integers(0, count + 1))
        rows.append(row | {mark: True for mark in MARKS if draw(st.integers(0, 5)) == 0})
    sure = st.sampled_from([0.0, 0.1, 0.29, 0.3, 0.5, 0.5, 0.7, 1.0]) | st.floats(0, 1)
    found = {}
    for number in range(count):
        ids = draw(st.lists(st.integers(0, count - 1), unique=True, max_size=22))
        confidences = draw(st.lists(sure, min_size=len(ids), max_size=len(ids)))
        found[number] = list(zip(ids, sorted(confidences, reverse=True), strict=True))
    return rows, found


def judge(
    rows: Sequence[dict[str, Any]], found: dict[int, list[tuple[int, float]]], warm: float
) -> list[JudgedArrival]:
    issues = archive_of((row, "") for row in rows)
    return [
        JudgedArrival(issues[at].id, issues[at].created_at, originals, tuple(found[int(issues[at].id)]))
        for at, originals in truth(issues, labels_of(rows), warm)
    ]


@pytest.mark.slow
@settings(max_examples=50)
@given(cases(), st.sampled_from([0.0, 0.2, 0.5]))
def test_all_figures_are_those_of_the_protocol(
    case: tuple[list[dict[str, Any]], dict[int, list[tuple[int, float]]]], warm: float
) -> None:
    rows, found = case
    judged = judge(rows, found, warm)
    want = reference.figures(rows, found, warm)
    queries, silent = split(judged)
    got_retrieval, got = retrieval(judged), confidence_calibration(judged)
    assert (len(queries), len(silent)) == (want["queries"], want["silent"])
    assert {f"RR@{k}": value for k, value in got_retrieval.rr.items()} == {
        f"RR@{k}": want[f"RR@{k}"] for k in (1, 5, 10, 20)
    }
    assert got_retrieval.mrr == pytest.approx(want["MRR"])
    assert got.ece == pytest.approx(want["ECE"])
    assert got.ece_high == (None if want["ECE above .3"] is None else pytest.approx(want["ECE above .3"]))
    assert got.brier_skill == (None if want["Brier skill"] is None else pytest.approx(want["Brier skill"]))
    for share in (0.01, 0.02, 0.05, 0.1):
        assert figures(judged, threshold_for_share(judged, share)) == pytest.approx(want[f"at {share}"], nan_ok=True)
    for step, row in enumerate(want["cuts"], 1):
        assert figures(judged, step / 20) == pytest.approx(row, nan_ok=True)


def figures(judged: list[JudgedArrival], cut: float) -> tuple[float | None, ...]:
    row = outcome_at(judged, cut)
    return row.comments, row.precision, row.caught, row.false_alarms


def arrival(originals: set[int] | None, *found: tuple[int, float], weight: float = 1.0) -> JudgedArrival:
    return JudgedArrival(0, START, None if originals is None else frozenset(originals), found, weight)


def test_an_arrival_that_stands_for_three_counts_three_times() -> None:
    once = [arrival({1}, (1, 0.9)), arrival({2}, (3, 0.8), (2, 0.4)), arrival(None, (5, 0.6), weight=3), arrival(None)]
    thrice = [*once[:2], *[arrival(None, (5, 0.6))] * 3, once[3]]
    assert asdict(outcome_at(once, 0.5)) == pytest.approx(asdict(outcome_at(thrice, 0.5)))
    assert confidence_calibration(once).ece == pytest.approx(confidence_calibration(thrice).ece)
    assert confidence_calibration(once).brier_skill == pytest.approx(confidence_calibration(thrice).brier_skill)


def test_c4_a_comment_is_wrong_where_people_decided_so_of_all_that_it_names() -> None:
    found = ((1, 0.9), (2, 0.6), (3, 0.1))
    for different, wrong in (({1, 2}, 1), ({1}, 0), ({1, 2, 3}, 1), (set(), 0)):
        judged = [JudgedArrival(0, START, None, found, different=frozenset(different)), arrival(None)]
        assert outcome_at(judged, 0.5).wrong == wrong
    assert outcome_at([JudgedArrival(0, START, None, found, different=frozenset({1, 2}))], 0.95).wrong == 0, (
        "it says nothing"
    )


def test_p1_how_many_comments_are_the_same_is_said_by_the_confidence() -> None:
    judged = [arrival(None, (1, 0.9)), arrival({5}, (4, 0.6)), arrival(None, (1, 0.4)), arrival(None)]
    assert outcome_at(judged, 0.5).said == pytest.approx(1.5), "whether it is marked or not"


def evaluated(judged: list[JudgedArrival]) -> Evaluation:
    return evaluate(judged, issues=len(judged), arrived=[one.arrived for one in judged], min_confidence=0.5)


def test_without_duplicates_or_answers_nothing_is_divided_by_zero() -> None:
    found = evaluated([arrival(None)])
    assert (found.rr_intervals, found.caught_intervals) == ({}, {})


def test_few_duplicates_that_were_all_found_are_no_proof_that_all_will_be() -> None:
    low, high = evaluated([arrival({1}, (1, 0.9)) for _ in range(5)]).rr_intervals[1]
    assert (round(low, 3), high) == (0.566, 1), "5 of 5 by Wilson's formula"


@pytest.mark.parametrize(("confidence", "expected"), [(0.9, (0.566, 1)), (0.1, (0, 0.434))])
def test_few_duplicates_that_were_all_caught_or_all_missed_are_no_proof_either(
    confidence: float, expected: tuple[float, float]
) -> None:
    judged = [arrival({1}, (1, confidence)) for _ in range(5)] + [arrival(None, (1, 0.5)) for _ in range(300)]
    for low, high in evaluated(judged).caught_intervals.values():
        assert (round(low, 3), round(high, 3)) == expected


def at(number: int, top: float | None, *, marked: bool = False) -> JudgedArrival:
    found = () if top is None else ((1, top), (2, top / 2))
    return JudgedArrival(number, START + timedelta(hours=number), frozenset({1}) if marked else None, found)


def test_the_surest_come_first_and_of_equals_the_later() -> None:
    some = [at(5, 0.3), at(6, 0.9, marked=True), at(7, 0.3), at(8, None), at(9, 0.5)]
    some += [at(10, LEAST_LISTED - 0.01)]
    assert likeliest(some) == (Unmarked(9, 1, 0.5), Unmarked(7, 1, 0.3), Unmarked(5, 1, 0.3))


@pytest.mark.slow
@given(st.lists(st.tuples(st.none() | st.floats(0, 1), st.booleans()), max_size=40))
def test_a_few_and_none_that_is_less_likely_than_one_left_out(given: list[tuple[float | None, bool]]) -> None:
    some = [at(number, top, marked=marked) for number, (top, marked) in enumerate(given, 3)]
    silent = sorted((one.top for one in some if one.originals is None and one.top >= LEAST_LISTED), reverse=True)
    assert [one.confidence for one in likeliest(some)] == silent[:LISTED]
