"""The threshold that follows from the figures, and what is said of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.likelihood import wilson
from bot.quality.evaluation import wording as words
from bot.quality.evaluation.charts import Panel, speaking_panel
from bot.quality.evaluation.figures import (
    BEARABLE,
    LEAST,
    OTHERS_NEEDED,
    Advice,
    AdviceReason,
    Evaluation,
    evaluate,
    monthly_arrivals,
)
from bot.quality.evaluation.measures import JudgedArrival
from bot.quality.evaluation.trial import choose

START = datetime(2024, 1, 1, tzinfo=UTC)


def made(caught: list[float], missed: int, bothered: list[float], quiet: int) -> Evaluation:
    """Duplicates whose original was found first at a confidence, or not at all; others with an alarm, or without."""
    found: list[tuple[frozenset[int] | None, tuple[tuple[int, float], ...]]]
    found = [(frozenset({1}), ((1, sure),)) for sure in caught]
    found += [(frozenset({1}), ())] * missed
    found += [(None, ((1, sure),)) for sure in bothered] + [(None, ())] * quiet
    judged = [
        JudgedArrival(number, START + timedelta(hours=number), originals, candidates)
        for number, (originals, candidates) in enumerate(found)
    ]
    return evaluate(judged, issues=2_000, arrived=[one.arrived for one in judged], min_confidence=0.2)


def test_what_nobody_has_triaged_yet_does_not_count_against_a_threshold() -> None:
    """True repeats of the last month, opened while the bot only watched, are unmarked and no false alarms."""
    old = [JudgedArrival(n, START + timedelta(days=n), frozenset({1}), ((1, 0.9),)) for n in range(1, 31)]
    old += [JudgedArrival(n, START + timedelta(days=n), None, ()) for n in range(31, 400)]
    new = [JudgedArrival(n, START + timedelta(days=400), None, ((1, 0.98),)) for n in range(500, 600)]
    found = evaluate([*old, *new], issues=500, arrived=[one.arrived for one in (*old, *new)], min_confidence=0.2)
    assert found.advice.reason is AdviceReason.CATCHES
    assert found.at.bothered == 100, "the figures count them all the same"


def test_p5_a_threshold_that_catches_most_while_few_of_what_nobody_marked_get_a_comment() -> None:
    """However few of the comments are marked: readers find two to five times as many as are."""
    found = made([0.9] * 10 + [0.4] * 10, 20, [0.45] * 50 + [0.3] * 60, 900)
    assert (found.advice.threshold, found.advice.reason) == (0.4, AdviceReason.CATCHES)
    assert words.advice(found) == (
        "Recommended is min_confidence: 0.4, since it catches the most duplicates while surely "
        "commenting on at most 8% of the other issues."
    )
    at_it = next(row for row in found.curve if row.cut == 0.4)
    assert words.at_threshold(found, at_it) == (
        "At .40, which is set, an average month of the last year (731 issues) would bring 49 comments (naming the same "
        "report: 25 by confidence, 14 by mark). In all it catches 50% of the known duplicates and comments on 5% of "
        "the other issues."
    )


def test_p5_no_threshold_is_recommended_below_which_readers_find_too_few_comments_useful() -> None:
    quiet = made([LEAST - 0.05] * 20, 0, [], 1_000)
    assert quiet.advice.reason is AdviceReason.NOTHING_BEARABLE
    assert made([LEAST] * 20, 0, [], 1_000).advice.threshold == LEAST


def test_c4_no_threshold_is_recommended_at_which_people_called_more_comments_wrong_than_are_marked() -> None:
    def advised_with(wrong: int) -> Advice:
        caught = [JudgedArrival(n, START, frozenset({1}), ((1, 0.9 if n < 10 else 0.4),)) for n in range(20)]
        rejected = [JudgedArrival(n, START, None, ((1, 0.5),), different=frozenset({1})) for n in range(wrong)]
        judged = [*caught, *rejected, *(JudgedArrival(n, START, None, ()) for n in range(1_000))]
        return evaluate(judged, issues=2_000, arrived=[START] * len(judged), min_confidence=0.5).advice

    assert [advised_with(wrong).threshold for wrong in (20, 21)] == [0.4, 0.9]


def test_the_name_of_a_point_at_the_top_stands_below_it_and_not_in_the_title() -> None:
    """Where the recommended threshold is always right, of which small repositories have many."""
    found = made(caught=[0.9] * 20, missed=0, bothered=[0.3] * 30, quiet=970)
    assert found.advice.threshold is not None
    drawn = "".join(speaking_panel(found, Panel(60, 326, 250)))
    ((head, name),) = re.findall(r' y="([0-9.]+)"[^>]*>[^<]*does<.* y="([0-9.]+)"[^>]*>[^<]*recommended<', drawn)
    assert float(name) - float(head) > 20


def test_what_would_have_happened_in_the_last_month_is_said_in_a_sentence() -> None:
    """Not of an average month: the duplicates all came before the last 730 hours, the false alarms are spread."""
    found = made([0.9] * 10 + [0.4] * 10, 20, [0.45] * 5 + [0.3] * 60, 900)
    month = found.last_month[0.2]
    assert (month.issues, month.comments, month.right) == (731, 0, 0)
    judged = [JudgedArrival(n, START + timedelta(hours=20 * n), None, ((1, 0.5),)) for n in range(40)]
    judged += [JudgedArrival(n, START + timedelta(hours=20 * n), frozenset({1}), ((1, 0.9),)) for n in range(40, 51)]
    last = evaluate(judged, issues=51, arrived=[one.arrived for one in judged], min_confidence=0.62)
    assert words.last_month(last) == (
        "At .62 it would have commented on 11 of 37 issues in the last month (naming the same report: 10 by "
        "confidence, 11 by mark): the 30 days up to the newest issue, of 2024-02-11. Nobody has triaged these issues "
        "yet, so unmarked ones may still be duplicates."
    )
    assert words.history(last).startswith(
        "Over the whole history, from 2024-01-01 on, it would have commented on 11 of 51 issues"
    )


@pytest.mark.parametrize(
    ("answers", "reason", "says"),
    [
        (
            ([0.9] * 1, 0, [], 1_000),
            AdviceReason.FEW_DUPLICATES,
            "Too few to say where the threshold should be: 1 known duplicate (20 are needed).",
        ),
        (
            ([0.9] * 30, 0, [], 40),
            AdviceReason.FEW_OTHERS,
            "Too few to say where the threshold should be: 40 issues that nobody marked (45 are needed to tell 8% from "
            "none).",
        ),
        (
            ([0.9] * 9, 0, [], 1),
            AdviceReason.FEW_DUPLICATES,
            "Too few to say where the threshold should be: 9 known duplicates (20 are needed) and 1 issue that nobody "
            "marked (45 are needed to tell 8% from none).",
        ),
        (
            ([0.1] * 30, 0, [0.9] * 500, 500),
            AdviceReason.NOTHING_BEARABLE,
            "Every threshold from .15 on catches no known duplicate, may comment on over 8% of the other issues, or "
            "is wrong more often than right: let the bot answer only when asked (mode: shadow).",
        ),
    ],
)
def test_nothing_is_recommended_without_a_reason_to(
    answers: tuple[list[float], int, list[float], int], reason: AdviceReason, says: str
) -> None:
    found = made(*answers)
    assert (found.advice.threshold, found.advice.reason) == (None, reason)
    assert words.advice(found) == says


def test_so_many_others_are_needed_and_not_one_fewer() -> None:
    assert wilson(0, OTHERS_NEEDED)[1] <= BEARABLE < wilson(0, OTHERS_NEEDED - 1)[1]


@pytest.mark.slow
def test_a_threshold_that_is_shown_does_in_a_settings_file_what_is_said_of_it() -> None:
    """Also where it lies just above a false alarm that is no round number."""
    alarms = [0.664195844, 0.25, 0.2500001, 0.081, 0.0804, 0.9985]
    for highest in alarms:
        found = made([0.9] * 30, 0, [highest, *[highest] * 5], 94)
        for share, row in found.limits.items():
            typed = float(words.threshold(row.cut))
            assert typed == row.cut and row.false_alarms <= share
            assert typed == 0.001 if share >= 0.06 else highest < typed <= highest + 0.0011
    # No settings file takes one above 1.
    assert words.threshold(made([0.9] * 30, 0, [1.0] * 6, 94).limits[0.01].cut) == "–"


def test_p1_the_confidence_stands_beside_the_marks_and_is_not_judged_by_them() -> None:
    """To say more than is marked is right, to say less is not."""
    means = "The confidence is how likely a careful reader is to call two issues the same. People mark fewer pairs. "
    few = made([0.9] * 2 + [0.1] * 5, 0, [0.9] * 2, 8)
    assert words.confidence(few) == (
        f"{means}The first candidates with 30% or more have 90% on average, and 50% of them are marked (4 answers)."
    )
    low = made([0.1] * 3, 0, [], 8)
    assert words.confidence(low) == (
        f"{means}The first candidates have 10% on average, and 100% of them are marked (3 answers): more than that, so "
        "the confidence is too low here."
    )


def test_nothing_is_said_of_others_or_duplicates_where_there_are_none() -> None:
    """0% of nobody would look like a good result."""
    repeats, alone = made([0.9] * 30, 0, [], 0), made([], 0, [0.9] * 30, 0)
    assert (words.caught(repeats, repeats.at), words.others(repeats, repeats.at)) == ("100%", "–")
    assert (words.caught(alone, alone.at), words.others(alone, alone.at)) == ("–", "100%")
    assert words.history(repeats).endswith(": it would have caught 100% of the known duplicates.")
    by_itself = "(naming the same report: 27 by confidence)."
    assert words.at_threshold(alone, alone.at).endswith(f"would bring 30 comments {by_itself}"), "nobody marked any"
    assert words.history(alone).endswith(f"it would have commented on 30 of 30 issues {by_itself}")
    assert words.confidence(alone) == "" and "by mark" not in words.last_month(alone)


def test_months_are_those_of_the_last_year() -> None:
    old = [START - timedelta(days=1_000 + number) for number in range(500)]
    year = [START + timedelta(days=number) for number in range(365)]
    assert monthly_arrivals([*old, *year]) == pytest.approx(365 / 12, rel=0.01)
    assert monthly_arrivals([START, START + timedelta(days=2)]) == 2


def test_a_year_counts_whole_where_its_issues_came_at_its_end() -> None:
    """A repository that had been quiet for long and got six issues within a week has one every other month."""
    old = [START - timedelta(days=1_000 + number) for number in range(500)]
    week = [START + timedelta(days=number) for number in range(6)]
    assert monthly_arrivals([*old, *week]) == pytest.approx(0.5, rel=0.01)


def test_months_are_told_of_the_calendars_first_year_too() -> None:
    """As a time that nobody set reads where a programme has put it into a zone."""
    first = datetime.min.replace(tzinfo=UTC) + timedelta(hours=8)
    judged = [JudgedArrival(number, first, None, ()) for number in range(3)]
    found = evaluate(judged, issues=3, arrived=[first] * 3, min_confidence=0.5)
    assert {month.issues for month in (*found.monthly.values(), *found.last_month.values())} == {3}


def test_a_sample_is_seeded_and_weighs_as_much_as_all() -> None:
    known = {n: frozenset({0}) if n % 10 == 0 else None for n in range(1, 1_001)}
    chosen = choose(known, 60, 1)
    assert chosen == choose(known, 60, 1) != choose(known, 60, 2)
    assert len(chosen) == 60
    assert sum(chosen.values()) == pytest.approx(1_000)
    assert sum(known[n] is not None for n in chosen) == 20
    assert choose(known, None, 0) == choose(known, 5_000, 0) == dict.fromkeys(known, 1.0)
    assert len(choose({1: None, 2: frozenset({1}), 3: frozenset({1}), 4: frozenset({1})}, 3, 0)) == 3
