"""The judgement of a chaos run can fail: each thing that must not be is seen, and what may be is not."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from bench.chaos.judge import Deliveries, Seen, judge
from bench.chaos.story import Kind, Story, Tale

CLEAN = Deliveries(queued={"a": 1}, runs={"a": ["done", "done"]})


def advice(*numbers: int) -> str:
    listed = "".join(f"- [#{n}](https://redirect.github.com/acme/app/issues/{n}) Title\n" for n in numbers)
    return f"<!-- doppel:advice v1 0123 -->\n{listed}\n<details>[#9](https://redirect.github.com/acme/app/issues/9)"


def seen(*said: str, **tale: object) -> Seen:
    return Seen("acme/app#3", replace(Tale(about=0, there=True, ever={0}), **tale), (1, 2), said)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "one",
    [
        seen(advice(1)),
        seen(advice(2), about=1, ever={0, 1}),
        seen(about=2),
        seen(advice(), about=2),
        seen(rejected={0}),
        seen(closed=True),
        seen(advice(1), closed=True, about=1, ever={0, 1}),
        seen(advice(2), labelled=True, about=0, ever={0, 1}),
        seen(swept=True),
        seen(deleted=True),
    ],
)
def test_what_a_calm_bot_leaves_is_well(one: Seen) -> None:
    assert list(judge([one], CLEAN).problems()) == []


@pytest.mark.parametrize(
    ("one", "where"),
    [
        (seen(), "wrong"),
        (seen(advice(2)), "wrong"),
        (seen(advice(1, 7)), "wrong"),
        (seen(advice(1), about=2), "wrong"),
        (seen(advice(1), rejected={0}), "wrong"),
        (seen(advice(7), closed=True), "wrong"),
        (seen(advice(1), swept=True), "wrong"),
        (replace(seen(deleted=True), kept=1), "wrong"),
        (seen(advice(1), advice(1)), "doubled"),
        (seen(advice(1), "<!-- doppel:reply v1 5 -->", "<!-- doppel:reply v1 5 -->"), "doubled"),
        (replace(seen(advice(1)), asked=frozenset({5})), "lost"),
    ],
)
def test_c2_anything_else_is_told(one: Seen, where: str) -> None:
    found = judge([one], CLEAN)
    assert not found.well
    assert len(getattr(found, where)) == 1
    assert len(list(found.problems())) == 1


@pytest.mark.parametrize(
    ("deliveries", "where"),
    [
        (replace(CLEAN, queued={"a": 2}), "doubled"),
        (replace(CLEAN, runs={}), "lost"),
        (replace(CLEAN, runs={"a": ["done", "running"]}), "lost"),
        (replace(CLEAN, never_taken=frozenset("b")), "lost"),
        (replace(CLEAN, runs={"a": ["dead"]}, dead=frozenset("a")), "dead"),
        (replace(CLEAN, poison=frozenset("a")), "dead"),
    ],
)
def test_a_delivery_that_is_lost_doubled_or_given_up_is_told(deliveries: Deliveries, where: str) -> None:
    found = judge([], deliveries)
    assert len(getattr(found, where)) == 1
    assert len(list(found.problems())) == 1


def test_poison_among_the_dead_letters_is_where_it_belongs() -> None:
    poison = frozenset("a")
    assert judge([], Deliveries({"a": 1}, {"a": ["dead"]}, dead=poison, poison=poison)).well


def test_a_seed_tells_the_same_story_again() -> None:
    one, again, other = (Story(seed, 20, 200) for seed in (1, 1, 2))
    assert (one.deeds, one.names) == (again.deeds, again.names)
    assert one.deeds != other.deeds
    assert len(one.deeds) == 200
    assert {deed.issue for deed in one.deeds if deed.kind == "open"} == set(range(20))
    tales = [Tale() for _ in one.names]
    for deed in one.deeds:
        assert deed.kind in tales[deed.issue].possible()
        tales[deed.issue].take(deed)


def test_every_kind_of_deed_is_in_the_long_run() -> None:
    assert {deed.kind for deed in Story(1, 300, 2_000).deeds} == set(get_args(Kind))
