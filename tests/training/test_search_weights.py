"""What the weights for searches learn of small repositories, as those for the index do (`test_beginnings.py`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bot.ranking import features
from bot.ranking.size import SMALLNESS
from bot.training.arrival import Arrival
from bot.training.collecting import collect
from bot.training.over_search import NAMES, fit_confidence, fit_ranking, opened, shrunk
from bot.training.smaller import SHARES, of_any_size, thinned
from tests.training.test_training import labelled

__all__ = ["labelled"]


def arrival(seed: int, earlier: int, same: bool, *, young: bool) -> Arrival:
    rng = np.random.default_rng(seed)
    told = np.array([float(same)] + [0.0] * 5)
    return Arrival(earlier, rng.random((6, len(NAMES))), np.arange(6), told, 1.0, young)


def test_a_repositorys_first_issues_teach_that_and_nothing_else() -> None:
    grown = [arrival(n, 5_000, n % 3 == 0, young=False) for n in range(60)]
    young = [arrival(n, 100, False, young=True) for n in range(100, 200)]
    ranking = fit_ranking(grown)
    assert fit_ranking([*grown, *young]) == ranking
    before, after = fit_confidence(grown, ranking), fit_confidence([*grown, *young], ranking)
    assert before.confidence == after.confidence
    alone, beside = before.calibration, after.calibration
    assert alone.intercept == beside.intercept
    assert {name for name in alone.weights if alone.weights[name] != beside.weights[name]} == {SMALLNESS}
    assert beside.weights[SMALLNESS] < alone.weights[SMALLNESS]


def test_without_authors_who_files_two_in_a_row_files_a_series() -> None:
    grown = [arrival(n, 5_000, n % 3 == 0, young=False) for n in range(60)]
    for one in grown:
        one.values[:, NAMES.index("same_author_lately")] = 0.0
    fitted = fit_confidence(grown, fit_ranking(grown))
    assert fitted.confidence.weights["same_author_lately"] == -1.0


def test_in_a_smaller_repository_all_takes_as_long_as_in_the_whole() -> None:
    days, lately = NAMES.index("days_apart"), NAMES.index("same_author_lately")
    whole = arrival(1, 400, True, young=False)
    whole.values[:, days] = np.log1p([0.5, 1.0, 2.0, 100.0, 100.0, 100.0])
    whole.values[:, lately] = 1.0
    whole.back[:] = [0, 1, 2, 99, 100, 300]
    small = thinned(whole, 0.25, np.random.default_rng(0), shrunk, 1.0)
    assert small is not None
    assert small.earlier == 100
    assert small.back.tolist() == [0, 1, 2, 99], "the last hundred issues"
    assert np.expm1(small.values[:, days]).tolist() == pytest.approx([2.0, 4.0, 8.0, 400.0])
    assert small.values[:, lately].tolist() == [1.0, 0.0, 0.0, 0.0], "within three days"
    whole.back[0] = 200
    assert thinned(whole, 0.25, np.random.default_rng(0), shrunk, 1.0) is None, "what it repeats is not there"


def test_candidates_are_counted_back_from_the_one_that_came_just_before(labelled: Path) -> None:
    """Every fifth issue of the file repeats the fourth before it, three of which came between."""
    arrivals = collect(opened, labelled, lambda to_do, done: None, others=0, seed=0)
    assert [one.earlier for one in arrivals] == list(range(14, 60, 5))
    for one in arrivals:
        assert one.back[one.same > 0].tolist() == [3]
        assert (one.back.min(), one.back.max()) == (0, one.earlier - 1)


def test_as_many_repeat_something_in_small_repositories_as_in_large_ones() -> None:
    """Else a probability learned from them would say that small repositories have hardly any duplicates."""
    arrivals = [arrival(n, 10_000, n % 2 == 0, young=False) for n in range(24)]
    for one in arrivals[:12]:
        one.back[:] += 9_000
    weights: dict[int, float] = {}
    for _, one in of_any_size(arrivals, 0, shrunk):
        if one.same.any():
            weights[one.earlier] = weights.get(one.earlier, 0.0) + one.stands_for
    assert sorted(weights) == sorted(int(10_000 * share) for share in SHARES)
    assert list(weights.values()) == pytest.approx([12.0] * len(SHARES))


def test_what_was_reported_together_teaches_how_small_ones_are_judged() -> None:
    """Made smaller by chance a repository loses it; so what nothing is left out of by chance is looked at as well."""
    alike = NAMES.index("title_coverage")

    def asked(seed: int) -> Arrival:
        rng = np.random.default_rng(seed)
        ranking, close = rng.random((60, len(features.NAMES))), rng.random((60, len(NAMES) - len(features.NAMES)))
        rows = np.hstack([ranking, close]) * 0.3
        # Half of the questions repeat an issue of long ago, and each has relatives among those that came just before.
        rows[:20, alike] = 0.9
        back, told = np.concatenate([np.arange(20), rng.integers(100, 3_000, 40)]), np.zeros(60)
        if seed % 2:
            rows[50, alike], told[50] = 0.9, 1.0
        return Arrival(10_000, rows, back, told, 1.0)

    arrivals = [asked(seed) for seed in range(40)]
    fitted = fit_confidence(arrivals, fit_ranking(arrivals))
    assert fitted.calibration.weights[SMALLNESS] < -0.5
