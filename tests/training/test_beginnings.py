"""What a repository's first issues teach: they came when it was small, and nothing about that is made."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bot.quality.evaluation.trial import labels_of
from bot.quality.replay.archive import archive_of
from bot.quality.training.arrivals import BEGINNING, Arrival, beginning
from bot.quality.training.fitting import Fitted
from bot.quality.training.learning import FirstCandidates, fit, fit_orders, smallness_of
from bot.search.matching import features
from bot.search.matching.probability import SMALLNESS, log_smallness


def test_all_of_the_first_issues_are_looked_at_but_for_the_very_first_and_the_doubtful() -> None:
    rows = [
        {"id": n, "title": f"It is {n}", "created_at": f"2024-01-01T{n // 60:02}:{n % 60:02}:00Z"} for n in range(300)
    ]
    rows[40] |= {"duplicate_of": 12}
    rows[41] |= {"maybe_related": True}
    rows[42] |= {"duplicate_of": 250}
    rows[43] |= {"duplicate_of": 13, "body_mentions_master": True}
    issues, labels = archive_of([(row, "") for row in rows]), labels_of(rows)
    least, _ = BEGINNING
    # A fifth of all. What repeats a later one repeats nothing known, and what names its original is no question.
    assert list(beginning(issues, labels)) == [n for n in range(least, 60) if n not in (41, 42, 43)]
    assert set(beginning(issues, labels).values()) == {1.0}


def test_what_was_small_itself_teaches_how_small_ones_are_judged_and_nothing_else() -> None:
    """Weights of large repositories are as good as without it: what small ones are like takes nothing from them."""
    values = np.random.default_rng(0).random((3, len(features.NAMES)))
    told = [np.array([float(n % 2), 0.0, 0.0]) for n in range(6)]
    grown = [Arrival(5_000, values + n / 100, np.arange(3), same, 1.0) for n, same in enumerate(told)]
    young = [replace(one, earlier=100, same=np.zeros(3), young=True) for one in grown]
    order = fit_orders(grown, 0)
    assert fit_orders([*grown, *young], 0) == order
    alone, beside = fit(grown, order, 0), fit([*grown, *young], order, 0)
    assert alone.confidence == beside.confidence
    before, after = alone.calibration, beside.calibration
    assert before.intercept == after.intercept
    assert {name for name in before.weights if before.weights[name] != after.weights[name]} == {SMALLNESS}
    assert after.weights[SMALLNESS] < before.weights[SMALLNESS]


def test_small_repositories_are_never_judged_with_less_care_than_large_ones() -> None:
    right = Fitted({"odds": 1, "odds by size": 0, "size": 0}, -2.0)

    def factor(earlier: int, rate: float, silent: int = 1) -> float:
        """Of 400 issues, of which those that repeat nothing are told by one for so many."""
        same, others = int(400 * rate), int(400 * (1 - rate)) // silent
        told, weight = np.repeat([1.0, 0.0], [same, others]), np.repeat([1.0, float(silent)], [same, others])
        return smallness_of(FirstCandidates.of(np.zeros(len(told)), [earlier] * len(told), told, weight), right)

    assert factor(100, 0.5) == 0.0, "where every other issue repeats one, too"
    assert factor(5_000, 0.0) == 0.0, "they are not small"
    # One in a hundred is right, where one in eight is said to be: the odds fall from -2.0 to those of .01.
    assert factor(100, 0.01) == pytest.approx((math.log(0.01 / 0.99) + 2.0) / log_smallness(100), abs=0.03)
    assert factor(100, 0.01, silent=99) == factor(100, 0.01)


def test_smallness_begins_below_three_thousand_and_ends_at_fifty() -> None:
    assert [log_smallness(total) for total in (10**6, 3_000)] == [0.0, 0.0]
    assert log_smallness(300) == pytest.approx(math.log(10))
    assert log_smallness(0) == log_smallness(50) == pytest.approx(math.log(60))
