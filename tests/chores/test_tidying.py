"""What counts no longer goes on a schedule, also of people, repositories and installations never heard of again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest
import sqlalchemy as sa

from bot.conversation.commands.table import LIMIT_SECONDS
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import RepoRef, Repository
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.storage import Store
from bot.storage.commands import UsageLimit
from bot.storage.decisions import KEPT_DAYS
from bot.storage.engine import make_engine
from bot.storage.schema import sessions, usage
from bot.storage.sessions import HOURS, Session
from handlers.scheduled.retention import erase_old, tidy
from handlers.services import Services

NOW = datetime.now(UTC)
REPO = RepoRef("acme", "app")


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with closing(Store(make_engine(store_url))) as store:
        yield store


def left(store: Store) -> list[int]:
    with store.engine.connect() as connection:
        counts = (sa.select(sa.func.count()).select_from(table) for table in (usage, sessions))
        return [connection.execute(count).scalar_one() for count in counts]


def test_what_counts_no_longer_goes_though_nobody_comes_back(store: Store) -> None:
    now = NOW.timestamp()
    store.repositories.upsert(Repository(5, REPO, private=True), 7, now)

    def use(at: float, who: str) -> None:
        assert store.usage.refuse(5, who, ["1 a 0"], [UsageLimit(20, LIMIT_SECONDS)], at) is None
        store.sessions.begin(Session(who), at)

    services = cast("Services", SimpleNamespace(store=store, now=lambda: now))
    use(now - max(LIMIT_SECONDS, HOURS * 3600) - 60, "once")
    assert left(store) == [1, 1]
    tidy(services)
    assert left(store) == [0, 0]
    use(now - 60, "again")
    tidy(services)
    assert left(store) == [1, 1]


def test_decisions_and_what_was_said_of_them_go_in_time(store: Store) -> None:
    now = NOW.timestamp()
    old = now - KEPT_DAYS * 86_400
    for number, at in ((1, old - 60), (2, old + 60)):
        store.decisions.add(5, Decision(number, at, "opened", "comment", DecisionOutcome.SILENT, 0.2, "", ()))
        store.signals.put(5, FeedbackSignal(number, FeedbackKind.BOX, "ann", 3, True, Role.TRIAGE, at))
    erase_old(cast("Services", SimpleNamespace(store=store, now=lambda: now)))
    assert [one.number for one in store.decisions.latest(5)] == [2]
    assert [one.number for one in store.signals.since(5, 0.0)] == [2]
