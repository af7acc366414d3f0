"""Which issues are looked at when their time to be closed has come: of every repository in which the App can work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace
from typing import cast

from bot.events import IssueEvent
from bot.model import RepoRef, Repository
from bot.services import Services
from bot.store import Store
from bot.store.database.engine import make_engine
from bot.store.parts.closings import ClosingState, KeptClosing
from handlers.closing.closing import call_for_due
from handlers.closing.rule import DAY

NOW = 1_700_000_000.0


def test_c6_what_is_due_is_looked_at_in_every_repository_where_the_app_can_work(
    new_store: Callable[[str], str],
) -> None:
    queued: list[tuple[int, int]] = []

    def put(_: str, event: IssueEvent) -> None:
        queued.append((event.repository.id, event.number))

    with closing(Store(make_engine(new_store("sqlite")))) as store:
        for number, installation in ((1, 7), (2, 8), (3, 7), (4, 7), (5, 7)):
            summary = Repository(number, RepoRef("acme", f"app-{number}"), private=False, archived=number == 3)
            store.repositories.upsert(summary, installation, NOW)
            offered = NOW - (6 if number == 4 else 8) * DAY
            store.closings.put(number, KeptClosing(10 + number, 1, 7, offered, ClosingState.OFFERED))
        store.repositories.suspend(8, suspended=True)
        services = SimpleNamespace(
            settings=SimpleNamespace(paused=False),
            store=store,
            github=SimpleNamespace(now=lambda: NOW),
            inbox=SimpleNamespace(put=put),
        )
        call_for_due(cast("Services", services))
    assert queued == [(1, 11), (5, 15)]
