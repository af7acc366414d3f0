"""Which issues the bot leaves alone, and which it looks at again when the index is complete: the recent, latest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from bot.conversation.config.schema import RepoConfig
from bot.deliveries.events import IndexEvent, IssueEvent
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import Issue, RepoRef, Repository
from bot.storage import Store
from bot.storage.engine import make_engine
from handlers.background import _index_completed
from handlers.context import why_skipped
from handlers.services import Services
from tests.matching.made import an_issue

NOW = 1_700_000_000.0
HOUR = 3_600.0
REPOSITORY = Repository(5, RepoRef("acme", "app"), private=False)


@pytest.fixture
def looked_at(new_store: Callable[[str], str]) -> Callable[[Sequence[float]], list[int]]:
    """Which are queued of the issues #1, #2 … that were looked at at these times, and nothing found."""
    store, queued = Store(make_engine(new_store("sqlite"))), list[int]()

    def looked_at(times: Sequence[float]) -> list[int]:
        store.repositories.upsert(REPOSITORY, 7, NOW)
        for number, at in enumerate(times, start=1):
            look = Decision(number, at, "opened", "comment", DecisionOutcome.SILENT, 0.2, "", ())
            store.decisions.add(REPOSITORY.id, look)
        services = SimpleNamespace(
            store=store,
            now=lambda: NOW,
            indexing=SimpleNamespace(ready=lambda repo_id: True),
            inbox=SimpleNamespace(put=lambda name, event: queued.append(cast("IssueEvent", event).number)),
        )
        _index_completed(IndexEvent(7, REPOSITORY, "chain", completed=True), cast("Services", services))
        store.close()
        return queued

    return looked_at


def test_of_many_the_latest_hundred_are_looked_at_again(looked_at: Callable[[Sequence[float]], list[int]]) -> None:
    assert looked_at([NOW - HOUR + second for second in range(103)]) == list(range(4, 104))


def test_what_was_reported_longer_than_a_day_ago_is_not(looked_at: Callable[[Sequence[float]], list[int]]) -> None:
    assert looked_at([NOW - 25 * HOUR, NOW - 23 * HOUR, NOW - HOUR]) == [2, 3]


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
