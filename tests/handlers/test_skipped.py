"""Which issues that changed by themselves are left alone: a pure decision (C1, C6)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.conversation.config.schema import IgnoreConfig, RepoConfig
from bot.domain.entities import Actor, Issue, RepoRef
from handlers.context import why_skipped

THEN = datetime(2026, 1, 1, tzinfo=UTC)
ISSUE = Issue(
    repo=RepoRef("acme", "app"),
    id=1,
    node_id="I_1",
    number=1,
    title="Crash at start",
    body="",
    state="open",
    state_reason=None,
    author=Actor("ann"),
    labels=("bug",),
    created_at=THEN,
    updated_at=THEN,
    closed_at=None,
    url="",
)


def test_c1_an_ordinary_issue_is_looked_at() -> None:
    assert why_skipped(ISSUE, RepoConfig(), sender_is_bot=False, muted=False) == ""


@pytest.mark.parametrize(
    ("issue", "reason"),
    [
        (replace(ISSUE, is_pull_request=True), "it is a pull request"),
        (replace(ISSUE, locked=True), "it is locked"),
        (replace(ISSUE, state="closed"), "it is closed"),
        (replace(ISSUE, author=Actor("renovate[bot]", is_bot=True)), "a bot opened it"),
    ],
)
def test_c1_what_is_left_alone(issue: Issue, reason: str) -> None:
    assert why_skipped(issue, RepoConfig(), sender_is_bot=False, muted=False) == reason


def test_c1_what_a_bot_does_to_a_persons_issue_is_left_alone() -> None:
    assert why_skipped(ISSUE, RepoConfig(), sender_is_bot=True, muted=False) == "a bot caused it"


def test_c4_a_muted_issue_is_left_alone() -> None:
    assert why_skipped(ISSUE, RepoConfig(), sender_is_bot=False, muted=True) == "it is muted"


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (RepoConfig(ignore=IgnoreConfig(authors=("ANN",))), "ignore.authors: ann"),
        (RepoConfig(ignore=IgnoreConfig(labels=("Bug",))), "ignore.labels: bug"),
        (RepoConfig(ignore=IgnoreConfig(titles=("crash*",))), "ignore.titles: crash*"),
        (RepoConfig(only_labels=("question",)), "only_labels"),
    ],
)
def test_c6_the_setting_that_keeps_the_bot_away_is_named(config: RepoConfig, reason: str) -> None:
    assert why_skipped(ISSUE, config, sender_is_bot=False, muted=False) == reason
