"""D8: groups of a backlog by the general merging core – survivor, sums, order – and what a maintainer gains."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.domain.entities import State
from bot.domain.report import Reason, ReasonCode
from bot.quality.feedback import Decided
from bot.quality.scanning.groups import BacklogIssue, DuplicateGroup, ScanAnswer, ScanMatch, grouped

START = datetime(2024, 1, 1, tzinfo=UTC)


def entry(number: int, *, day: int | None = None, state: State = "open", **counts: Any) -> BacklogIssue:
    """An issue that is as old as its number says, or as `day` does."""
    at = START + timedelta(days=number if day is None else day)
    return BacklogIssue(number, f"Issue {number}", state, at, **counts)


def answer(number: int, **found: float) -> ScanAnswer:
    """`answer(3, n1=.8)`: #3 is the same as #1 with that probability."""
    return ScanAnswer(
        number,
        1,
        "m",
        tuple(ScanMatch(int(name[1:]), chance, (Reason(ReasonCode.WORDS, (name,)),)) for name, chance in found.items()),
    )


def numbers(groups: list[DuplicateGroup]) -> list[list[int]]:
    return [[group.original.number, *(member.entry.number for member in group.members)] for group in groups]


def test_d8_the_oldest_survives_and_counters_are_summed() -> None:
    backlog = [
        entry(7, day=0, thumbs_up=1, thumbs_down=1, comments=2),
        entry(2, thumbs_up=3, comments=4),
        entry(3, thumbs_down=2),
    ]
    (group,) = grouped(backlog, [answer(3, n2=0.7), answer(7, n2=0.9, n3=0.8)])
    assert group.original.number == 7, "it was transferred: younger by its number, older by its time"
    assert [(one.entry.number, one.confidence, one.reasons) for one in group.members] == [
        (2, 0.9, (Reason(ReasonCode.WORDS, ("n2",)),)),
        (3, 0.8, (Reason(ReasonCode.WORDS, ("n3",)),)),
    ]
    assert (group.thumbs_up, group.thumbs_down, group.comments) == (4, 3, 6)


def test_d8_rejected_pairs_are_in_no_group_together() -> None:
    backlog = [entry(number) for number in (1, 2, 3)]
    answers = [answer(2, n1=0.9), answer(3, n1=0.8, n2=0.7)]
    assert numbers(grouped(backlog, answers)) == [[1, 2, 3]]
    assert numbers(grouped(backlog, answers, decided=Decided(different=frozenset({(1, 3)})))) == [[1, 2]]


def test_c7_what_people_decided_is_the_same_is_a_sure_pair_whatever_was_found() -> None:
    backlog = [entry(number) for number in (1, 2, 3)]
    decided = Decided(same=frozenset({(1, 3), (2, 9)}))
    (group,) = grouped(backlog, [answer(3, n1=0.01, n2=0.9)], decided=decided)
    assert [(one.entry.number, one.confidence, one.reasons) for one in group.members] == [
        (3, 1.0, (Reason(ReasonCode.WORDS, ("n1",)),))
    ]
    assert numbers(grouped(backlog, [], decided=decided)) == [[1, 3]], "#9 is not in the backlog"


def test_d8_what_is_not_in_the_backlog_is_in_no_group() -> None:
    answers = [answer(2, n1=0.9), answer(3, n1=0.8, n2=0.7), answer(4, n3=0.9)]
    assert numbers(grouped([entry(1), entry(3), entry(5)], answers)) == [[1, 3]]


def test_d8_less_than_the_threshold_is_no_pair() -> None:
    assert grouped([entry(1), entry(2)], [answer(2, n1=0.49)], threshold=0.5) == []
    assert numbers(grouped([entry(1), entry(2)], [answer(2, n1=0.5)], threshold=0.5)) == [[1, 2]]


def test_d8_groups_are_ordered_by_what_a_maintainer_gains() -> None:
    backlog = [entry(number) for number in (1, 2, 3, 4)] + [
        entry(5),
        entry(6, comments=99),
        entry(7),
        entry(8),
        entry(9),
    ]
    answers = [
        answer(2, n1=0.9),
        # Two can be closed; less sure, but more.
        answer(4, n3=0.6),
        answer(7, n3=0.6, n4=0.6),
        # As sure as the first, and a long discussion is moved.
        answer(6, n5=0.9),
        answer(9, n8=0.9),
    ]
    groups = grouped(backlog, answers)
    assert numbers(groups) == [[5, 6], [3, 4, 7], [1, 2], [8, 9]]
    assert [group.gain for group in groups] == pytest.approx([0.9 * 3, 1.2, 0.9, 0.9])
    assert [group.closable for group in groups] == [1, 2, 1, 1]


def test_d8_what_is_closed_already_gains_nothing() -> None:
    backlog = [entry(1), entry(2, state="closed"), entry(3), entry(4)]
    groups = grouped(backlog, [answer(2, n1=0.99), answer(4, n3=0.5)])
    assert numbers(groups) == [[3, 4], [1, 2]]
    assert (groups[1].gain, groups[1].closable) == (0, 0)
