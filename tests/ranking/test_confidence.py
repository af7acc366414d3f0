"""The probability: from how a candidate stands in its list, and from what the best few have in common."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ranking.confidence import LEADERS, NAMES, CloseComparison, Leader, bounds, standings
from bot.ranking.model import shipped_model
from bot.ranking.rarity import Rarity
from bot.text.terms import read

RARITY = Rarity(1_000, {"crash": 400, "the": 900, "version": 950})


def leader(title: str, body: str, author: str = "ann", messages: frozenset[str] = frozenset()) -> Leader:
    return Leader(read(title, body), messages, author)


def close(one: Leader, other: Leader, days: float = 100.0) -> dict[str, float]:
    values = CloseComparison(one, RARITY).features(other, days)
    return dict(zip(NAMES[7:], values, strict=True))


def test_standings_compare_with_the_rest_of_the_list() -> None:
    scores = [2.0, 1.0, 0.0, -1.0, -1.0, *[-4.0] * 10]
    first, second, *_ = standings(scores, 100)
    assert first[:4] == (6.0, 0.0, 1.0, 2.0)
    assert second[:4] == (5.0, -1.0, 0.0, 1.0)
    assert first[4] == second[4] == pytest.approx(math.log(100))


def test_a_short_list_is_its_own_background_and_a_lone_candidate_has_a_usual_one() -> None:
    assert standings([], 100) == []
    tiny = math.log(50)
    assert standings([1.0, -1.0], 1)[0] == (2.0, 0.0, 2.0, 1.0, tiny)
    assert standings([1.0], 1) == [(3.0, 0.0, 3.0, 1.0, tiny)]


@given(st.lists(st.floats(-30, 30), max_size=60).map(lambda scores: sorted(scores, reverse=True)))
def test_standings_are_finite_and_for_the_leaders_alone(scores: list[float]) -> None:
    found = standings(scores, 100)
    assert len(found) == min(len(scores), LEADERS)
    assert all(math.isfinite(value) for row in found for value in row)
    assert all(row[1] <= 0 for row in found)


def test_a_copy_shares_everything() -> None:
    text = ("Upload stalls behind the gateway", "The uploader waits for a lease that nobody renews")
    found = close(leader(*text), leader(*text, author="bob"))
    assert (found["same_text"], found["of_target"], found["of_candidate"]) == (1.0, 1.0, 1.0)
    assert found["same_author"] == 0


def test_what_every_issue_says_is_no_evidence() -> None:
    found = close(leader("the crash", "version crash"), leader("the crash", "version"))
    assert found["same_text"] == found["rare_shared"] == 0


def test_one_author_is_told_apart_and_an_unknown_one_is_nobody() -> None:
    one = leader("Uploader stalls", "")
    assert close(one, one, days=1)["same_author_lately"] == 1
    assert (close(one, one)["same_author"], close(one, one)["same_author_lately"]) == (1, 0)
    nobody = leader("Uploader stalls", "", author="")
    assert close(nobody, nobody)["same_author"] == 0


def test_a_shared_error_message_is_seen() -> None:
    message = frozenset({"could not store asset database is locked"})
    assert close(leader("a", "", messages=message), leader("b", "", messages=message))["same_message"] == 1
    assert close(leader("a", "", messages=message), leader("b", ""))["same_message"] == 0


def test_only_a_copy_by_somebody_else_has_a_least_confidence() -> None:
    text = ("Upload stalls behind the gateway", "The uploader waits for a lease that nobody renews")
    compare = CloseComparison(leader(*text), RARITY).features
    copy = compare(leader(*text, author="bob"), 10)
    assert bounds(copy, RARITY.total, strangers=True) == (0.25, 1.0)
    assert bounds(copy, RARITY.total, strangers=False) == (0.0, 1.0)
    # As two reports that both quote what one command prints.
    alike = leader("Upload hangs behind the gateway", "The uploader waits for a lease that nobody renews", author="bob")
    shared = compare(alike, 10)
    assert 0.6 <= shared[0] < 0.8
    assert bounds(shared, RARITY.total, strangers=True) == (0.0, 1.0)
    typo = leader("Docs: a typo", "in the gateway page, second paragraph", author="bob")
    assert bounds(compare(typo, 10), RARITY.total, strangers=True) == (0.0, 1.0)


@pytest.mark.parametrize("text", ["", "the crash", "version"])
def test_who_says_next_to_nothing_is_never_likely(text: str) -> None:
    full = leader("Upload stalls behind the gateway", "The uploader waits for a lease that nobody renews", "bob")
    short = leader(text, "")
    for one, other in ((short, full), (full, short), (short, leader(text, "", "bob"))):
        close = CloseComparison(one, RARITY).features(other, 10)
        assert bounds(close, 1_000, strangers=True) == (0.0, 0.1)


def test_in_a_small_repository_a_few_reports_do_not_make_their_words_common() -> None:
    one, other = leader("Export to PDF crashes", ""), leader("Crash while exporting PDF", "", "bob")
    tiny, unrelated = Rarity(3, dict.fromkeys(other.evidence.all, 1)), leader("Dark mode for the settings", "", "bob")
    compare = CloseComparison(one, tiny).features
    assert bounds(compare(other, 10), 3, strangers=True)[1] == 1.0
    assert bounds(compare(unrelated, 10), 3, strangers=True) == (0.0, 0.1)


def test_the_shipped_model_trusts_who_stands_out() -> None:
    model = shipped_model()
    row = dict.fromkeys(NAMES, 0.0) | {"score": -3.0, "title_coverage": 0.6, "reverse_coverage": 0.6, "substance": 2.0}
    near = model.probability(list((row | {"lead": 5.0}).values()), 1_000)
    far = model.probability(list((row | {"lead": 1.0}).values()), 1_000)
    assert far < near


def test_the_shipped_model_expects_more_chance_matches_among_more_issues() -> None:
    model = shipped_model()
    row = dict.fromkeys(NAMES, 0.0) | {"lead": 4.0, "score": -6.0, "substance": 2.0}
    in_a_small_one = model.probability(list((row | {"size": math.log(3_000)}).values()), 3_000)
    in_a_large_one = model.probability(list((row | {"size": math.log(20_000)}).values()), 20_000)
    assert in_a_large_one < in_a_small_one
