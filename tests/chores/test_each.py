"""A chore's turn in many repositories: a fault in one keeps it from no other, and nothing hides it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import sqlalchemy as sa

from bot.conversation.config.schema import RepoConfig
from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import Overtaken
from bot.platform.settings import Settings
from bot.quality.polling import ReactionPoll
from bot.storage import Store, StoredRepository
from bot.storage.engine import make_engine
from handlers.scheduled import repository_tasks as digests
from handlers.scheduled.repository_tasks import in_each, poll_feedback, update_digests, workable
from handlers.services import Services


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """Three repositories in which the App can work."""
    with closing(Store(make_engine(store_url))) as store:
        for number in (1, 2, 3):
            put(store, number)
        yield store


def put(store: Store, number: int, *, archived: bool = False) -> None:
    summary = Repository(number, RepoRef("acme", f"app-{number}"), private=True, archived=archived)
    store.repositories.upsert(summary, 7, 0.0)


def services_of(store: Store) -> Services:
    return cast(
        "Services",
        SimpleNamespace(
            settings=Settings(home=Path("/nowhere"), database_url=store.engine.url.render_as_string(False)),
            store=store,
            now=lambda: 1_700_000_000.0,
            repository_settings=SimpleNamespace(last_or_present=lambda *_: RepoConfig()),
            github=SimpleNamespace(in_repository=lambda *_, **__: None),
        ),
    )


@pytest.mark.parametrize("chore", [update_digests, poll_feedback])
def test_a_fault_in_one_repository_keeps_the_chore_from_no_other(
    store: Store, chore: Callable[[Services], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[int] = []

    def faulty(repo_id: int) -> None:
        seen.append(repo_id)
        if repo_id < 3:
            raise ZeroDivisionError("words of an issue")

    def digest(_: Services, known: StoredRepository, *__: object) -> None:
        faulty(known.id)

    def reactions(one: ReactionPoll) -> None:
        faulty(one.repo_id)

    monkeypatch.setattr(digests, "update_digest", digest)
    monkeypatch.setattr(ReactionPoll, "poll", reactions)
    with pytest.raises(ZeroDivisionError):
        chore(services_of(store))
    assert sorted(seen) == [1, 2, 3]
    told = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert sorted(line.split(":")[0] for line in told) == ["acme/app-1", "acme/app-2"]
    assert "words of an issue" not in "".join(told)


@pytest.mark.parametrize("fault", [sa.exc.TimeoutError(), Overtaken("another worker has taken this over")])
def test_a_chore_whose_database_is_away_or_that_another_does_by_now_goes_on_in_no_other_repository(
    store: Store, fault: Exception
) -> None:
    seen: list[int] = []

    def away(known: StoredRepository, _: int) -> None:
        seen.append(known.id)
        raise fault

    with pytest.raises(type(fault)):
        in_each(workable(store), store, away)
    assert len(seen) == 1


def test_a_chore_goes_where_the_app_can_work(store: Store) -> None:
    put(store, 4, archived=True)
    store.repositories.upsert(Repository(5, RepoRef("other", "app"), private=True), 8, 0.0)
    store.repositories.suspend(8, suspended=True)
    assert [(one.id, installation) for one, installation in workable(store)] == [(1, 7), (2, 7), (3, 7)]
