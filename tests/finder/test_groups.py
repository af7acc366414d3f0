"""Known duplicates of one another are one result: the finder leads to the member that is worth reading."""

from __future__ import annotations

from datetime import timedelta

from bot.quality.replay.archive import PastIssue
from tests.finder.conftest import START, TARGET, Bench, numbers


def test_a_duplicate_leads_to_the_oldest_open_member_of_its_group(bench: Bench) -> None:
    best = bench.find().candidates[0]
    bench.put(3, 6, of=2, state="closed", reason="duplicate")
    first = bench.find().candidates[0]
    assert (first.number, first.state, first.also) == (2, "open", (3, 6))
    assert first.confidence is not None
    assert abs(first.confidence - (best.confidence or 0)) < 0.2
    assert sum(number in (2, 3, 6) for number in numbers(bench.find())) == 1


def test_an_original_that_no_source_found_is_led_to(bench: Bench) -> None:
    bench.put(2, 3, 6, of=5, state="closed", reason="duplicate")
    first = bench.find(max_candidates=1).candidates[0]
    assert (first.number, first.also) == (5, (2, 3, 6))
    assert first.reasons == bench.find(rejected={5}).candidates[0].reasons != ()


def test_what_was_opened_again_is_no_duplicate(bench: Bench) -> None:
    bench.put(3, of=2, state="open", reason="reopened")
    assert {2, 3} <= set(numbers(bench.find()))


def test_what_people_marked_here_counts_as_well(bench: Bench) -> None:
    bench.put(3, state="closed", reason="duplicate")
    (first,) = [one for one in bench.find(duplicates={3: 2}).candidates if one.number == 2]
    assert first.also == (3,)


def test_nothing_later_than_the_target_is_told(bench: Bench) -> None:
    later = bench.github.arrive(PastIssue("y", *TARGET, START + timedelta(days=99), None, "zoe", ()))
    bench.put(later.number)
    bench.put(3, 6, of=later.number, state="closed", reason="duplicate")
    report = bench.find(earlier_only=True)
    told = {number for one in report.candidates for number in (one.number, *one.also)}
    assert later.number not in told
    assert later.number in {n for one in bench.find().candidates for n in (one.number, *one.also)}
