"""What is set by hand about high probabilities: half of what is above .3 counts."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.index import Index
from bot.matching import Matcher, Model
from bot.matching.bounds import VERSION, doubted
from tests.matching.made import an_issue, fill

probabilities = st.lists(st.floats(0, 1), max_size=20).map(np.array)


@given(probabilities)
def test_what_is_low_stays_and_of_what_is_above_half_is_left(likely: np.ndarray) -> None:
    held = doubted(likely)
    low = likely <= 0.3
    assert np.array_equal(held[low], likely[low])
    assert held[~low] - 0.3 == pytest.approx((likely[~low] - 0.3) / 2, abs=1e-12)
    assert held.max(initial=0.0) <= 0.65


@given(probabilities)
def test_nothing_changes_its_place(likely: np.ndarray) -> None:
    likely = np.sort(likely)
    assert (np.diff(doubted(likely)) >= 0).all()


def test_so_the_bot_says(index: Index) -> None:
    """However sure the weights are."""
    told = "The proxy answers 413 and the app waits for a minute before it gives up and shows an empty frame"
    fill(index, an_issue(20, "Large pictures cannot be uploaded", told, days=1))
    text = resources.files("bot.matching").joinpath("weights.json").read_text(encoding="utf-8")
    shipped = Model.parse(text)
    sure = replace(shipped.known.calibration, intercept=20.0)
    certain = replace(shipped.known, calibration=sure)
    model = replace(shipped, known=certain, unknown=certain)
    with Matcher(index, model=model).looking(1, an_issue(30, "Pictures that are large fail", told[:60])) as look:
        first, *_ = look.judge()
    assert first.number == 20
    assert first.confidence == pytest.approx(0.65)


def test_answers_by_other_rules_are_those_of_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan that goes on asks again what was answered by the rules of before (D8)."""
    text = resources.files("bot.matching").joinpath("weights.json").read_text(encoding="utf-8")
    model = Model.parse(json.dumps(json.loads(text)))
    before = model.digest
    monkeypatch.setattr("bot.matching.model.VERSION", VERSION + 1)
    assert model.digest != before
