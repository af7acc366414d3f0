"""The weights that are shipped, as a model."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from bot.matching import Model
from bot.matching.bounds import VERSION
from bot.matching.model import KNOWN, UNKNOWN


@pytest.fixture
def data() -> dict[str, Any]:
    text = resources.files("bot.matching").joinpath("weights.json").read_text(encoding="utf-8")
    given: dict[str, Any] = json.loads(text)
    return given


PARTS = (("ranking",), *((who, what) for who in (KNOWN, UNKNOWN) for what in ("confidence", "calibration")))


@pytest.mark.parametrize("path", PARTS)
@pytest.mark.parametrize("spoil", [lambda one: one.update(intercept=9.0), lambda one: one["weights"].popitem()])
def test_a_part_that_differs_makes_another_model_and_one_that_lacks_a_feature_none(
    path: tuple[str, ...], spoil: Any, data: dict[str, Any]
) -> None:
    """What was answered by one model is outdated by another (D8)."""
    before = Model.parse(json.dumps(data)).digest
    part = data
    for name in path:
        part = part[name]
    spoil(part)
    if part["intercept"] == 9.0:
        assert Model.parse(json.dumps(data)).digest != before
    else:
        with pytest.raises(ValueError, match="the weights are for other features"):
            Model.parse(json.dumps(data))


@pytest.mark.parametrize("name", ["ranking", KNOWN, UNKNOWN])
def test_weights_of_before_are_none_of_this_version(name: str, data: dict[str, Any]) -> None:
    del data[name]
    with pytest.raises(KeyError):
        Model.parse(json.dumps(data))


def test_answers_by_other_rules_are_those_of_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan that goes on asks again what was answered by the rules of before (D8)."""
    text = resources.files("bot.matching").joinpath("weights.json").read_text(encoding="utf-8")
    model = Model.parse(json.dumps(json.loads(text)))
    before = model.digest
    monkeypatch.setattr("bot.matching.model.VERSION", VERSION + 1)
    assert model.digest != before
