"""The picture of a backlog's groups, and the list beside it: none, one, many."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from flask.testing import FlaskClient
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.domain.report import Reason, ReasonCode
from bot.interfaces.dashboard.data import DashboardData
from bot.interfaces.dashboard.views import DRAWN, LEAST, timeline
from bot.quality.scanning.groups import BacklogIssue, DuplicateGroup, GroupMember, ScanResult
from tests.dashboard.conftest import HOSTILE, words

BEGIN = datetime(2019, 7, 1, tzinfo=UTC)
DAYS = st.lists(st.lists(st.integers(0, 4_000), min_size=2, max_size=6).map(sorted), max_size=DRAWN + 3)


def group(number: int, days: list[int], title: str = "Map is grey") -> DuplicateGroup:
    first, *others = [
        BacklogIssue(number + place, title, "open", BEGIN + timedelta(days=day)) for place, day in enumerate(days)
    ]
    return DuplicateGroup(
        first, tuple(GroupMember(one, 0.8, (Reason(ReasonCode.MESSAGE, ("tile 403",)),)) for one in others), 4, 1, 1
    )


@settings(max_examples=30)
@example([[0, 1]] * (DRAWN + 3))
@given(DAYS)
def test_every_issue_of_the_groups_that_are_drawn_is_a_dot_within_the_picture(days: list[list[int]]) -> None:
    drawn = timeline([group(100 * place, days_) for place, days_ in enumerate(days, 1)])
    if len(days) < LEAST:
        assert drawn == ""
        return
    tree = ElementTree.fromstring(drawn)
    dots = list(tree.iter("circle"))
    assert len(dots) == sum(map(len, days[:DRAWN]))
    assert len([one for one in dots if one.get("class") == "dot"]) == min(len(days), DRAWN)
    _, _, width, height = map(float, tree.attrib["viewBox"].split())
    assert all(0 <= float(one.attrib["cx"]) <= width and 0 <= float(one.attrib["cy"]) <= height for one in dots)
    years = [text.text for text in tree.iter("text") if not (text.text or "").startswith("#")]
    assert len(years) <= 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "says"),
    [
        (0, "No groups. They come from the last scan"),
        (1, "1 group of open issues that report the same thing with at least 35%; 2 issues could be closed."),
        (50, "50 groups of open issues that report the same thing with at least 35%, those first that bring the most"),
        (60, "And 10 more; doppel scan acme/app shows all."),
    ],
)
def test_the_page_is_good_for_any_number_of_groups(
    evaluated: None, signed_in: Callable[[str], FlaskClient], monkeypatch: pytest.MonkeyPatch, count: int, says: str
) -> None:
    groups = tuple(group(100 * number, [0, 9, 700], f"{HOSTILE}\u202e") for number in range(1, count + 1))
    make = DashboardData.__init__

    def with_groups(self: DashboardData, *given: object) -> None:
        make(self, *given)  # type: ignore[arg-type]
        self.groups_of = lambda repository: ScanResult(groups, 400, False, 0.35)

    monkeypatch.setattr(DashboardData, "__init__", with_groups)
    answer = signed_in("tara").get("/dashboard/acme/app/backlog")
    assert says in words(answer.text)
    assert len(answer.data) <= 100_000 and "<script>alert" not in answer.text
    assert answer.text.count("<details") == min(count, 50) and answer.text.count(" open>") == min(count, 10)
    assert ("<svg" in answer.text) == (count >= LEAST)
    # What turns a line around turns no further than the title that it stands in.
    assert answer.text.count("\u202e") == answer.text.count("\u202e</bdi>") == 3 * min(count, 50)
