"""`close_after`: when an issue is closed by itself, and every reason why it never is."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.closing.rule import DAY, PATIENCE, Facts, Step, decide

SINCE = 1_000_000.0
DUE = Facts(now=SINCE + 7 * DAY, since=SINCE, days=7, author_agrees=True)

FACTS = st.builds(
    Facts,
    now=st.floats(SINCE - DAY, SINCE + 60 * DAY),
    since=st.just(SINCE),
    days=st.integers(1, 99),
    against=st.integers(0, 2),
    comments=st.integers(0, 2),
    **{field.name: st.booleans() for field in fields(Facts) if field.type == "bool"},
)


@pytest.mark.parametrize("word", [{"author_agrees": True}, {"author_agrees": False, "labelled": True}])
def test_it_is_closed_at_its_time_where_the_author_or_a_triager_agrees(word: dict[str, bool]) -> None:
    facts = replace(DUE, **word)
    assert decide(facts)[0] is Step.CLOSE
    assert decide(replace(facts, now=facts.now - 1)) == (Step.WAIT, "its time has not come")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"wanted": False}, "the settings do not want it any more"),
        ({"is_open": False}, "it is closed or locked"),
        ({"muted": True}, "it is muted"),
        ({"announced": False}, "the comment does not announce it any more"),
        ({"rejected": True}, "somebody said that the two differ"),
        ({"target_open": False}, "the other issue is not open"),
        ({"target_older": False}, "the other issue is newer"),
        ({"circle": True}, "the other issue repeats this one"),
        ({"against": 1}, "somebody voted against it"),
        ({"comments": 1}, "somebody commented"),
        ({"reopened": True}, "somebody has opened it again"),
    ],
)
def test_it_is_never_closed_against(change: dict[str, bool | int], reason: str) -> None:
    for facts in (DUE, replace(DUE, labelled=True), replace(DUE, now=SINCE)):
        assert decide(replace(facts, **change)) == (Step.OVER, reason)  # type: ignore[arg-type]


def test_without_anybodys_word_it_waits_and_then_gives_up() -> None:
    nobody = replace(DUE, author_agrees=False)
    assert decide(nobody) == (Step.WAIT, "nobody has agreed yet")
    assert decide(replace(nobody, now=nobody.now + PATIENCE)) == (Step.OVER, "nobody has agreed")


def test_while_the_votes_are_not_told_it_waits() -> None:
    for facts in (DUE, replace(DUE, labelled=True)):
        unheard = replace(facts, heard=False)
        assert decide(unheard) == (Step.WAIT, "GitHub does not tell the votes")
        assert decide(replace(unheard, now=facts.now + PATIENCE)) == (Step.OVER, "nobody has agreed")


@given(FACTS)
def test_it_is_closed_only_with_a_word_for_it_and_none_against(facts: Facts) -> None:
    step, reason = decide(facts)
    assert reason
    if step is Step.CLOSE:
        assert facts.author_agrees or facts.labelled
        assert facts.heard
        assert (facts.against, facts.comments) == (0, 0)
        assert facts.now >= facts.since + facts.days * DAY
        assert facts.wanted and facts.is_open and facts.announced and facts.target_open and facts.target_older
        assert not (facts.muted or facts.rejected or facts.circle)


@given(FACTS, st.sampled_from([{"against": 1}, {"comments": 1}, {"circle": True}, {"target_older": False}]))
def test_no_objection_ever_brings_it_nearer(facts: Facts, objection: dict[str, bool | int]) -> None:
    assert decide(replace(facts, **objection))[0] is Step.OVER  # type: ignore[arg-type]
