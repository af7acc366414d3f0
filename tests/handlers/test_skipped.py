"""C1: which issues that changed by themselves are left alone, a pure decision."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.conversation.config.schema import RepoConfig
from bot.domain.entities import Issue
from handlers.context import why_skipped
from tests.matching.made import an_issue

ISSUE = an_issue(1, "Crash at start")


@pytest.mark.parametrize(
    ("issue", "bot", "muted", "reason"),
    [
        (ISSUE, False, False, ""),
        (replace(ISSUE, is_pull_request=True), False, False, "it is a pull request"),
        (replace(ISSUE, locked=True), False, False, "it is locked"),
        (replace(ISSUE, state="closed"), False, False, "it is closed"),
        (ISSUE, True, False, "a bot caused it"),
        (ISSUE, False, True, "it is muted"),
    ],
)
def test_c1_what_is_left_alone(issue: Issue, bot: bool, muted: bool, reason: str) -> None:
    assert why_skipped(issue, RepoConfig(), sender_is_bot=bot, muted=muted) == reason
