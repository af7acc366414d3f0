"""What a piece of evidence tells about an issue of a given number."""

from __future__ import annotations

import pytest

from bot.decisions import Evidence


@pytest.mark.parametrize(
    ("found", "about"),
    [
        (Evidence(3, 0.6, 1, True), True),
        (Evidence(8, 0.6, 1, True, also=(2, 3)), True),
        (Evidence(8, 0.6, 1, True), False),
        # Numbers of other repositories, and of what is no issue, say nothing about the issue that has the same.
        (Evidence(3, 0.6, 1, True, repo="acme/lib"), False),
        (Evidence(8, 0.6, 1, True, also=(3,), repo="acme/lib"), False),
        (Evidence(3, 0.6, 1, True, kind="pull request"), False),
    ],
)
def test_c7_what_is_said_of_a_number_is_said_of_an_issue_of_this_repository(found: Evidence, about: bool) -> None:
    assert found.is_about(3) is about
