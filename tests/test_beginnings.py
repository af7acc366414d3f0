"""What a repository's first issues teach: they came when it was small, and nothing about that is made."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bot.evaluation.labels import labels_of
from bot.matching import confidence, features
from bot.replay.archive import archive_of
from bot.training.over_index import BEGINNING, beginning, fit
from bot.training.smaller import Arrival


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


def test_a_repository_that_was_small_and_had_no_duplicates_is_believed() -> None:
    """The likeness of what belongs together in a young repository must not be taken for sameness."""
    alike = features.NAMES.index("words_shared")

    def arrival(seed: int, earlier: int, same: bool, *, young: bool) -> Arrival:
        rng = np.random.default_rng(seed)
        values = rng.random((8, len(features.NAMES))) * 0.3
        values[0, alike] = 0.9
        told = np.array([float(same)] + [0.0] * 7)
        return Arrival(earlier, values, rng.permutation(20)[:8], told, 1.0, young)

    grown = [arrival(n, 5_000, n % 2 == 0, young=False) for n in range(60)]
    young = [arrival(n, 100, False, young=True) for n in range(100, 200)]

    def odds(arrivals: list[Arrival], total: int) -> float:
        fitted = fit(arrivals, 0)
        one = arrival(999, total, False, young=False)
        scores = fitted["ranking"].scores(one.standings())
        best = np.argsort(-scores)
        rows = confidence.rows(one.values[best], scores[best], total)
        likely = fitted["confidence"].scores(rows[:1])
        return float(fitted["calibration"].scores(confidence.calibration(likely, total))[0])

    assert odds([*grown, *young], 100) < odds(grown, 100) - math.log(2)
    assert odds([*grown, *young], 100) < odds([*grown, *young], 5_000)


def test_what_was_small_itself_is_not_made_smaller_and_does_not_teach_the_order() -> None:
    values = np.random.default_rng(0).random((3, len(features.NAMES)))
    told = [np.array([float(n % 2), 0.0, 0.0]) for n in range(6)]
    grown = [Arrival(5_000, values + n / 100, np.arange(3), same, 1.0) for n, same in enumerate(told)]
    alone, beside = fit(grown, 0), fit([*grown, replace(grown[1], earlier=100, young=True)], 0)
    assert alone["ranking"] == beside["ranking"]
    assert alone["confidence"] != beside["confidence"]
