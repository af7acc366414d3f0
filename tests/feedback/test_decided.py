"""C4, C7: what people decided about a pair, which finder, scan and evaluation take from one place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role, UserVerdictKind
from bot.domain.report import Evidence
from bot.platform.settings import load
from bot.quality.feedback import Decided, decide_pairs, decisions_on_pairs, examples
from bot.storage import Store, open_store

COMMENT = Decision(
    9,
    10.0,
    "opened",
    "comment",
    DecisionOutcome.POSTED,
    0.2,
    "",
    (Evidence(1, 0.8, 1, True), Evidence(2, 0.3, 2, True)),
)


def said(
    same: bool,
    at: float = 20.0,
    who: Role = Role.TRIAGE,
    *,
    kind: FeedbackKind = FeedbackKind.VOTE,
    pair: tuple[int, int] = (9, 1),
) -> FeedbackSignal:
    return FeedbackSignal(pair[0], kind, f"{who.value}-{at}", pair[1], same, who, at)


@pytest.fixture
def store(prepared_home: Path) -> Iterator[Store]:
    made = open_store(load({"DOPPEL_HOME": str(prepared_home)}, prepared_home / "no.env"))
    yield made
    made.close()


def of(*signals: FeedbackSignal) -> Decided:
    return decide_pairs(examples([COMMENT], signals, []), {})


@pytest.mark.parametrize("kind", [FeedbackKind.VOTE, FeedbackKind.BOX, FeedbackKind.NOT, FeedbackKind.OF])
def test_c7_a_word_on_a_pair_decides_it_whichever_comes_first(kind: FeedbackKind) -> None:
    for pair in ((9, 1), (1, 9)):
        assert of(said(True, kind=kind, pair=pair)) == Decided(frozenset({(1, 9)}), frozenset(), {9: 1})
        assert of(said(False, kind=kind, pair=pair)) == Decided(frozenset(), frozenset({(1, 9)}), {})


def test_c7_a_reaction_is_about_what_the_comment_named() -> None:
    up, down = (
        of(FeedbackSignal(9, FeedbackKind.REACTION, "ann", 0, same, Role.TRIAGE, 20.0)) for same in (True, False)
    )
    assert up == Decided(frozenset({(1, 9)}), frozenset(), {9: 1})
    assert down == Decided(frozenset(), frozenset({(1, 9), (2, 9)}), {})
    assert down.different_from(9) == {1, 2} and down.different_from(2) == {9}


def test_c7_what_counts_most_holds_and_of_equals_the_latest() -> None:
    author, triager = said(False, 30.0, Role.AUTHOR), said(True, 20.0)
    assert of(author, triager).same, "the author's word counts half"
    assert of(triager, said(False, 30.0)).different, "somebody has seen it otherwise since"
    assert of(said(False, who=Role.OTHER)) == Decided(), "a stranger's word counts for nothing"


def test_c4_what_a_command_has_closed_leads_to_what_it_names_unless_people_contradict() -> None:
    assert decide_pairs([], {3: 9}).originals == {3: 9}, "an earlier one can be closed in favour of a later one"
    assert decide_pairs(examples([], [said(False, pair=(9, 3))], []), {3: 9}).originals == {}


@given(st.lists(st.builds(said, st.booleans(), st.floats(11, 90), st.sampled_from(Role)), max_size=12))
def test_c7_no_pair_is_decided_both_ways_and_the_order_does_not_matter(signals: list[FeedbackSignal]) -> None:
    found = of(*signals)
    assert not found.same & found.different
    assert found == of(*reversed(signals))


def test_c7_it_is_read_from_all_that_is_stored(store: Store) -> None:
    store.decisions.add(1, COMMENT)
    store.signals.put(1, FeedbackSignal(9, FeedbackKind.REACTION, "ann", 0, False, Role.AUTHOR, 20.0))
    store.signals.put(1, FeedbackSignal(8, FeedbackKind.BOX, "ann", 3, True, Role.TRIAGE, 20.0))
    store.signals.put(1, FeedbackSignal(7, FeedbackKind.VOTE, "eve", 3, True, Role.OTHER, 20.0))
    store.verdicts.add(1, 6, 4, UserVerdictKind.NOT, actor="ann", command_id=1, now=30.0)
    store.verdicts.add(1, 9, 2, UserVerdictKind.OF, actor="ann", command_id=2, now=30.0)
    expected = Decided(frozenset({(3, 8), (2, 9)}), frozenset({(1, 9), (4, 6)}), {8: 3, 9: 2})
    assert decisions_on_pairs(store, 1) == expected
    assert decisions_on_pairs(store, 2) == Decided()
