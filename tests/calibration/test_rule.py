"""C7: what people said moves the threshold within bounds, one way for each word, if there is enough of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.quality.calibration import ENOUGH, HIGHEST, LOWEST, CalibrationResult, Move, Point, calibrate

USUAL = 0.2

probabilities = st.sampled_from([step / 50 for step in range(51)])
weights = st.sampled_from([0.25, 0.5, 1.0])
some_points = st.lists(st.builds(Point, probabilities, st.booleans(), weights), max_size=60)
# As in practice: many on one side of the usual threshold, of which most say the same.
one_sided = st.builds(
    lambda low, count, right, others: [Point(low, right, 1.0)] * count + others,
    probabilities,
    st.integers(0, 30),
    st.booleans(),
    some_points,
)


@pytest.mark.slow
@given(one_sided, probabilities, weights)
def test_c7_one_more_word_against_never_lowers_the_bar(points: list[Point], at: float, weight: float) -> None:
    more = [*points, Point(at, right=False, weight=weight)]
    assert calibrate(more, USUAL).threshold >= calibrate(points, USUAL).threshold


@pytest.mark.slow
@given(one_sided, probabilities, weights)
def test_c7_one_more_word_for_it_never_raises_the_bar(points: list[Point], at: float, weight: float) -> None:
    more = [*points, Point(at, right=True, weight=weight)]
    assert calibrate(more, USUAL).threshold <= calibrate(points, USUAL).threshold


@pytest.mark.slow
@given(one_sided, st.sampled_from([0.0, 0.1, 0.2, 0.45, 0.6, 0.9, 1.0]))
def test_c7_the_bar_stays_within_its_bounds(points: list[Point], usual: float) -> None:
    threshold = calibrate(points, usual).threshold
    assert min(usual, LOWEST) <= threshold <= max(usual, HIGHEST)


@pytest.mark.slow
@given(st.lists(st.builds(Point, probabilities, st.booleans(), st.just(0.5)), max_size=int(2 * ENOUGH) - 1), st.data())
def test_c7_without_enough_that_was_said_nothing_changes(points: list[Point], data: st.DataObject) -> None:
    usual = data.draw(probabilities)
    assert calibrate(points, usual).threshold == usual
    assert calibrate(points, usual).move is Move.STAYS


def test_c7_wrong_comments_raise_the_bar_above_them_and_no_further_than_is_said() -> None:
    wrong = [Point(0.27, right=False, weight=1.0)] * 6
    assert calibrate(wrong[:5], USUAL).threshold == USUAL
    assert calibrate(wrong, USUAL) == CalibrationResult(0.3, Move.RISES, 0, 6)
    further = [*wrong, Point(0.47, right=False, weight=1.0)]
    assert calibrate(further, USUAL).threshold == 0.3, "one alone says too little of what is that probable"
    assert calibrate([*further, further[-1]], USUAL) == CalibrationResult(0.5, Move.RISES, 0, 8)
    disputed = [Point(0.32, right=right, weight=1.0) for right in (True, True, False, False)]
    assert calibrate([*wrong * 5, *disputed], USUAL).threshold == 0.3, "as many for it as against it there"
    right = [Point(0.42, right=True, weight=1.0)] * 6
    assert calibrate([*further, further[-1], *right], USUAL) == CalibrationResult(0.3, Move.RISES, 0, 6)


def test_c7_six_that_would_have_been_right_lower_it_where_few_would_have_been_wrong() -> None:
    missed = [Point(0.13, right=True, weight=1.0)] * 6
    assert calibrate(missed, USUAL) == CalibrationResult(0.1, Move.FALLS, 6, 0)
    others = [Point(0.12, right=False, weight=1.0)] * 4
    assert calibrate([*missed, *others], USUAL).threshold == USUAL


def test_c7_a_word_for_the_comments_does_not_make_the_words_against_them_enough() -> None:
    against = [Point(0.27, right=False, weight=weight) for weight in (1, 1, 1, 1, 1, 0.5, 0.25)]
    for more in ([], [Point(0.27, right=True, weight=0.25)]):
        assert calibrate([*against, *more], USUAL).threshold == USUAL


def test_c7_beyond_its_bounds_the_bar_is_for_people_to_choose() -> None:
    assert calibrate([Point(0.88, right=False, weight=1.0)] * 30, USUAL).threshold == USUAL
    assert calibrate([Point(0.07, right=True, weight=1.0)] * 30, USUAL).threshold == USUAL
    assert calibrate([Point(0.58, right=False, weight=1.0)] * 30, USUAL).threshold == HIGHEST
