"""Which issues may be mentioned at all, whatever they resemble."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.finder.wish import Wish
from bot.model import RepoRef
from tests.matching.made import an_issue

TARGET = an_issue(5, "It fails", days=5.0)


@pytest.mark.parametrize(
    ("wish", "days", "may"),
    [
        (Wish(), 9.0, True),
        # Numbers of other repositories say nothing about which came first.
        (Wish(earlier_only=True), 9.0, False),
        (Wish(earlier_only=True), 5.0, True),
        (Wish(rejected={9}), 1.0, True),
        (Wish(rejected_elsewhere={"acme/lib#9"}), 1.0, False),
        (Wish(rejected_elsewhere={"acme/lib#8", "acme/app#9"}), 1.0, True),
        (Wish(rejected_elsewhere={"acme/lib#9"}, earlier_only=True), 1.0, False),
    ],
)
def test_c4_h6_of_other_repositories(wish: Wish, days: float, may: bool) -> None:
    there = replace(an_issue(9, "It fails", days=days), repo=RepoRef("Acme", "Lib"))
    assert wish.may_tell(there, TARGET) is may
