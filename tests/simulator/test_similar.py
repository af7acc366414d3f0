"""F8a: similar issues as GitHub ranks them, and as it answers where it does not."""

from __future__ import annotations

from typing import Any

import pytest

from bot.simulator import Simulator
from tests.simulator.conftest import Api

PATH = "/repos/acme/app/issues/3/semantically_similar"


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    sim.open_issue("acme/app", "ada", "Login page: the logo is blurred", "It looks bad")
    sim.open_issue("acme/app", "bob", "Crash on login behind a proxy", "panic: proxy refused the connection")
    sim.open_issue("acme/app", "cy", "Crash on login behind a proxy", "It says: proxy refused the connection")
    sim.open_issue("acme/app", "dee", "Crash on login behind a proxy", "A fix", is_pull_request=True)


def test_f8a_ranked_issues_come_best_first_with_githubs_word_on_them(sim: Simulator, bot: Api) -> None:
    sim.set_similarity("acme/app", "ranked")
    (best,) = bot.get(PATH).json()
    assert (best["issue"]["number"], best["confidence"], best["likely_duplicate"]) == (2, "high", True)
    assert 1 < best["score"] <= 2, "the scale is GitHub's own and passes 1"
    assert [one["issue"]["number"] for one in bot.get(PATH, params={"threshold": "0"}).json()] == [2, 1]
    low = bot.get(PATH, params={"threshold": "0", "per_page": 1, "page": 2}).json()
    assert [(one["confidence"], one["likely_duplicate"]) for one in low] == [("low", False)]
    assert bot.get(PATH, params={"threshold": "1.99"}).json() == []
    assert bot.get(PATH, params={"threshold": "much"}).status_code == 422


def test_f8a_where_ranking_is_not_enabled_bare_issues_are_answered_or_a_refusal(sim: Simulator, bot: Api) -> None:
    assert bot.get(PATH).status_code == 404, "as long as nobody switches it on"
    sim.set_similarity("acme/app", "bare")
    (bare,) = bot.get(PATH).json()
    assert bare["number"] == 2
    assert "issue" not in bare and "confidence" not in bare
    for status in (403, 404, 410):
        sim.set_similarity("acme/app", status)
        assert bot.get(PATH).status_code == status
    with pytest.raises(ValueError, match="not one of ranked, bare, 403, 404, 410"):
        sim.set_similarity("acme/app", "teapot")  # type: ignore[arg-type]


def test_f8a_scripts_switch_it_as_they_switch_faults(sim: Simulator, bot: Api) -> None:
    keyed: dict[str, Any] = {"headers": {"X-Simulator-Key": sim.app.hook.secret}}
    assert bot.post("/_sim/similarity", {"repository": "acme/app", "answers": "ranked"}, **keyed).status_code == 200
    assert bot.get(PATH).status_code == 200
    for wrong in ({"answers": "often"}, {"answers": ["ranked"]}, {}):
        assert bot.post("/_sim/similarity", {"repository": "acme/app", **wrong}, **keyed).status_code == 422
    assert bot.post("/_sim/similarity", {"repository": "acme/app", "answers": 404}).status_code == 403
