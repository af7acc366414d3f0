"""What speaks for two issues being the same, and the model that weighs it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ranking.features import NAMES, Comparison, Subject
from bot.ranking.model import Logistic, shipped_model
from bot.ranking.rarity import Rarity
from bot.text.terms import read

START = datetime(2024, 1, 1, tzinfo=UTC)
RARITY = Rarity(1_000, {"crash": 300, "login": 20, "proxi": 2})


def subject(title: str, body: str = "", days: float = 0) -> Subject:
    return Subject(read(title, body), START + timedelta(days=days))


def compare(target: Subject, candidate: Subject) -> dict[str, float]:
    return dict(zip(NAMES, Comparison(target, RARITY).features(candidate, 0.5), strict=True))


def test_the_same_issue_again_is_covered_wholly() -> None:
    target = subject("net: crash on login", "behind a proxy")
    found = compare(target, target)
    for name in ("title_coverage", "reverse_coverage", "title_cosine", "text_coverage", "same_topic"):
        assert found[name] == pytest.approx(1.0)
    assert found["days_apart"] == 0
    assert found["shared_terms"] == pytest.approx(math.log1p(len(target.evidence.all)))


def test_strangers_share_nothing() -> None:
    found = compare(subject("net: crash on login"), subject("docs: typo", days=10))
    assert {name: found[name] for name in ("title_coverage", "title_cosine", "text_match", "rarest_shared")} == {
        "title_coverage": 0.0,
        "title_cosine": 0.0,
        "text_match": 0.0,
        "rarest_shared": 0.0,
    }
    assert found["same_topic"] == -1
    assert found["days_apart"] == pytest.approx(math.log1p(10))


def test_a_rare_shared_word_says_more_than_a_common_one() -> None:
    target = subject("crash login proxy")
    rare, common = compare(target, subject("proxy")), compare(target, subject("crash"))
    for name in ("title_coverage", "title_cosine", "text_match", "rarest_shared"):
        assert rare[name] > common[name] > 0


def test_the_titles_words_are_found_in_the_others_body_too() -> None:
    found = compare(subject("login crash"), subject("trouble", "the login leads to a crash"))
    assert found["title_coverage"] == pytest.approx(1.0)
    assert found["title_cosine"] == 0


texts = st.text(alphabet="ab: AB_\n日", max_size=40)


@given(texts, texts, texts, texts)
def test_features_are_finite_and_shares_are_shares(a: str, b: str, c: str, d: str) -> None:
    found = compare(subject(a, b), subject(c, d))
    assert all(map(math.isfinite, found.values()))
    for name in ("title_coverage", "reverse_coverage", "title_cosine", "text_coverage", "rarest_shared"):
        assert -1e-9 <= found[name] <= 1 + 1e-9
    assert found["dice"] == 0.5


def test_the_shipped_model_prefers_the_likelier() -> None:
    model = shipped_model().ranking
    target = subject("net: crash on login behind a proxy", "panic: proxy refused the login")
    comparison = Comparison(target, RARITY)
    same = comparison.features(subject("net: login crash with proxy", "the proxy refused my login", days=3), 0.6)
    other = comparison.features(subject("docs: typo in the crash course", "a letter is missing", days=300), 0.2)
    assert 0 < model.probability(other) < model.probability(same) < 1


def test_weights_for_other_features_are_refused() -> None:
    weights = dict.fromkeys(NAMES, 0.0)
    data = {"weights": weights, "intercept": 0.0}
    assert Logistic.parse(data, NAMES).probability([1.0] * len(NAMES)) == 0.5
    del weights["dice"]
    with pytest.raises(ValueError, match="dice"):
        Logistic.parse(data, NAMES)
