"""C3, H6: how the comment shows a candidate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.conversation.render.comment import render_comment
from bot.domain.entities import Closer
from bot.domain.report import Reason, ReasonCode
from tests.render.samples import CLOSED, candidate, report, view


@pytest.mark.parametrize(
    ("state", "reason", "expected"),
    [
        ("open", None, "Open ·"),
        ("open", "reopened", "Open ·"),
        ("closed", None, "Closed ·"),
        ("closed", "completed", "Closed as completed · **possible regression** ·"),
        ("closed", "not_planned", "Closed as not planned ·"),
        ("closed", "duplicate", "Closed in favour of another issue ·"),
        ("closed", "something_new", "Closed ·"),
    ],
)
def test_c3_the_state_is_shown(state: str, reason: str | None, expected: str) -> None:
    assert f"   - {expected}" in render_comment(report(candidate(state=state, state_reason=reason)), view())


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (1.0, "Very likely the same (100%)"),
        (0.999, "Very likely the same (99%)"),
        (0.84, "Likely the same (84%)"),
        (0.59, "Possibly the same (59%)"),
        (0.001, "Unlikely to be the same (1%)"),
        (0.0, "Unlikely to be the same (0%)"),
    ],
)
def test_p4_the_word_comes_before_the_number(confidence: float, expected: str) -> None:
    assert f"   - {expected} · open" in render_comment(report(candidate(confidence=confidence)), view())


def test_c3_without_a_confidence_none_is_claimed() -> None:
    body = render_comment(report(candidate()), view())
    assert "   - Open · reported 2025-11-02\n" in body
    assert "likely" not in body.lower()


@pytest.mark.parametrize(
    ("closer", "says"),
    [
        (None, "closed as not planned on 2026-01-20 ·"),
        (
            Closer(pull=7),
            "closed as not planned on 2026-01-20 by [#7](https://redirect.github.com/acme/app/pull/7) ·",
        ),
        (
            Closer(commit="0123456789" * 4),
            "closed as not planned on 2026-01-20 by "
            f"[`0123456`](https://redirect.github.com/acme/app/commit/{'0123456789' * 4}) ·",
        ),
    ],
)
def test_c3_of_a_closed_one_it_is_said_when_and_by_what(closer: Closer | None, says: str) -> None:
    one = candidate(confidence=0.4, state_reason="not_planned", **CLOSED)
    closers = {118: closer} if closer else {}
    assert f"- Possibly the same (40%) · {says}" in render_comment(report(one), view(closers=closers))
    elsewhere = replace(one, repo="acme/docs")
    assert "on 2026-01-20 ·" in render_comment(report(elsewhere), view(closers=closers)), "its number is another's"
    hidden = render_comment(report(one), view(closers=closers, enterprise=True))
    assert "://" not in hidden


@pytest.mark.parametrize(("confidence", "marked"), [(None, True), (0.1, True), (0.09, False)])
def test_c3_a_possible_regression_is_marked_where_it_may_be_the_same(confidence: float | None, marked: bool) -> None:
    one = candidate(state="closed", state_reason="completed", confidence=confidence)
    body = render_comment(report(one), view())
    assert "losed as completed · " in body
    assert ("**possible regression**" in body) is marked


@pytest.mark.parametrize(("sources", "said"), [(("vectors",), True), (("github-search",), False)])
def test_c3_what_only_the_meaning_has_found_says_so(sources: tuple[str, ...], said: bool) -> None:
    for reasons, expected in (((), said), ((Reason(ReasonCode.WORDS, ("tiles",)),), False)):
        body = render_comment(report(candidate(reasons=reasons, sources=sources)), view())
        assert ("   - Similar in meaning overall" in body) is expected


MESSAGE, IPHONE = Reason(ReasonCode.MESSAGE, ("No space",)), Reason(ReasonCode.IDENTIFIERS, ("iPhone",))
PROXY = Reason(ReasonCode.IDENTIFIERS, ("HTTPS_PROXY", "E1"))
ONE_WORD, TWO_WORDS = (Reason(ReasonCode.TITLES, words) for words in (("play",), ("play", "sideways")))


@pytest.mark.parametrize(
    ("reasons", "says"),
    [
        ((MESSAGE, IPHONE), "Same error text: “No space”"),
        ((PROXY, TWO_WORDS), "Names in common: HTTPS_PROXY, E1"),
        ((IPHONE, TWO_WORDS), "Words in both titles: play, sideways"),
        ((IPHONE, ONE_WORD), "Names in common: iPhone"),
        ((), None),
    ],
)
def test_c3_one_reason_is_told_that_a_reporter_understands(reasons: tuple[Reason, ...], says: str | None) -> None:
    shown = render_comment(report(candidate(reasons=reasons)), view()).partition("\n\nThis is")[0]
    assert shown.splitlines()[5:] == ([f"   - {says}"] if says else [])
