"""Issue 3, item 5: candidates that repeat one another lead to one of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.entities import Issue
from bot.search.ranking.grouping import DuplicateGroup, components, resolve
from tests.matching.made import an_issue

OPEN = an_issue(1, "Crash")
DONE, DUPLICATE, DROPPED = (
    replace(OPEN, state="closed", state_reason=reason) for reason in ("completed", "duplicate", "not_planned")
)


@pytest.mark.parametrize(
    ("states", "lead"),
    [
        ({1: DONE, 2: DUPLICATE, 3: OPEN, 4: OPEN}, 3),
        ({1: DROPPED, 2: DONE, 3: DUPLICATE, 4: DONE}, 2),
        ({1: DROPPED, 2: DUPLICATE, 3: DUPLICATE, 4: DUPLICATE}, 1),
    ],
)
def test_the_oldest_open_one_leads_else_the_oldest_completed_else_the_oldest(
    states: dict[int, Issue], lead: int
) -> None:
    others = tuple(sorted({1, 2, 3, 4} - {lead}))
    assert resolve([2], {2: 1, 3: 1, 4: 2}, states, states) == [DuplicateGroup(lead, others, (2,))]


def test_a_group_stands_where_its_best_candidate_stood() -> None:
    known = dict.fromkeys(range(1, 8), OPEN)
    groups = resolve([5, 3, 7, 2], {7: 5, 3: 1}, known, known)
    assert groups == [DuplicateGroup(5, (7,), (5, 7)), DuplicateGroup(1, (3,), (3,)), DuplicateGroup(2, (), (2,))]


def test_a_rejected_member_is_neither_shown_nor_listed_and_the_others_stay() -> None:
    known = {2: OPEN, 3: OPEN}
    assert resolve([3], {2: 1, 3: 1}, known, known) == [DuplicateGroup(2, (3,), (3,))]
    assert resolve([3], {3: 1}, {3: OPEN}, set()) == []


numbers = st.integers(1, 9)


@pytest.mark.slow
@given(st.lists(numbers, unique=True), st.dictionaries(numbers, numbers), st.sets(numbers), st.sets(numbers))
def test_every_candidate_is_in_one_group_and_nobody_is_told_twice(
    ranked: list[int], originals: dict[int, int], known: set[int], may_lead: set[int]
) -> None:
    states = {number: (OPEN, DONE, DUPLICATE)[number % 3] for number in known}
    groups = resolve(ranked, originals, states, may_lead & known)
    told = [number for group in groups for number in (group.lead, *group.others)]
    assert len(told) == len(set(told))
    assert set(told) <= known
    assert all(group.lead in may_lead for group in groups)
    found = [number for group in groups for number in group.found]
    assert len(found) == len(set(found)) and set(found) <= set(ranked)
    assert [group.found[0] for group in groups] == sorted((g.found[0] for g in groups), key=ranked.index)
    of = components(ranked, originals.items())
    for group in groups:
        assert len({of[number] for number in (group.lead, *group.others, *group.found)}) == 1


@given(st.dictionaries(numbers, numbers))
def test_components_are_those_of_the_graph(originals: dict[int, int]) -> None:
    of = components([], originals.items())
    assert all(of[duplicate] == of[original] for duplicate, original in originals.items())
    # Taking away the ties one by one never leaves fewer components.
    assert len(set(of.values())) >= len(of) - len(originals)
