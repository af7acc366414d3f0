"""C6a: access that ends in the middle of some work leaves nothing behind of what that work stores meanwhile."""

from __future__ import annotations

from contextlib import suppress

import pytest

from bot.deliveries.events import EvaluationEvent, IndexEvent, IssueEvent, ScanEvent
from bot.domain.entities import Actor, RepoRef, Repository
from bot.quality.polling import ReactionPoll
from bot.search import indexer as indexing
from bot.search.index import IndexedIssue
from bot.search.indexer import Indexer
from bot.storage.repositories import Progress, StoredRepository
from handlers.repositories import erase_repository, erased_if_ended
from handlers.scheduled import repository_tasks as digests
from handlers.scheduled.repository_tasks import poll_feedback, update_digests
from tests.about import stored
from tests.indexing.conftest import REPO, Host, host, on_one_database

__all__ = ["host"]

ANN = Actor("ann")


def left_behind(host: Host) -> None:
    """What somebody at work stores who has not heard yet that access has ended."""
    host.services.index.put(host.repo_id, [IndexedIssue(1, "A plan that nobody may know", "", author="ann")])
    host.note(Progress(seen=1))
    assert stored(host.services.store, host.repo_id) > 3


def test_what_is_stored_stays_as_long_as_the_repository_is_ours(host: Host) -> None:
    summary = Repository(host.repo_id, RepoRef.parse(REPO), private=True)
    host.services.store.repositories.upsert(summary, 1, 1.0)
    with erased_if_ended(host.repo_id, host.services.store):
        left_behind(host)
    assert stored(host.services.store, host.repo_id) > 3


def test_what_is_stored_goes_also_where_the_work_fails(host: Host) -> None:
    with suppress(ZeroDivisionError), erased_if_ended(host.repo_id, host.services.store):
        left_behind(host)
        raise ZeroDivisionError
    assert stored(host.services.store, host.repo_id) == 0


def test_what_is_ours_again_when_some_work_ends_stays(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Access ended during that work and comes back at its end, of which another worker hears."""
    store, summary = host.services.store, Repository(host.repo_id, RepoRef.parse(REPO), private=True)
    get = store.repositories.get

    def before_it_came_back(repo_id: int) -> StoredRepository | None:
        known = get(repo_id)
        store.repositories.upsert(summary, 2, 2.0)
        return known

    monkeypatch.setattr(store.repositories, "get", before_it_came_back)
    with erased_if_ended(host.repo_id, store):
        left_behind(host)
    known = get(host.repo_id)
    assert known is not None
    assert known.installation == 2


@on_one_database
@pytest.mark.parametrize("kind", [IndexEvent, ScanEvent, EvaluationEvent])
def test_a_job_that_is_done_again_takes_away_what_the_try_left_that_was_killed(
    host: Host, kind: type[IndexEvent | ScanEvent | EvaluationEvent]
) -> None:
    """The second try sees at once that the repository is not ours, and has nothing to do but this."""
    left_behind(host)
    summary = Repository(host.repo_id, RepoRef.parse(REPO), private=True)
    host.queue.put("again", kind(1, summary, "chain"))
    host.work()
    assert stored(host.services.store, host.repo_id) == 0


@on_one_database
def test_an_issue_that_is_deleted_after_access_has_ended_leaves_nothing(host: Host) -> None:
    """The index counts what it takes out, and would keep a row for that."""
    summary = Repository(host.repo_id, RepoRef.parse(REPO), private=True)
    host.queue.put("late", IssueEvent("deleted", 1, summary, 1, ANN, ANN))
    host.work()
    assert stored(host.services.store, host.repo_id) == 0


@pytest.mark.slow
@on_one_database
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("chore", ["digests", "feedback"])
def test_a_chore_that_is_overtaken_leaves_nothing(
    host: Host, chore: str, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.load(3)
    host.install()

    def overtaken(*_: object) -> None:
        host.services.store.forget(host.repo_id)
        left_behind(host)
        if fails:
            raise ZeroDivisionError

    monkeypatch.setattr(digests, "update_digest", overtaken)
    monkeypatch.setattr(ReactionPoll, "poll", overtaken)
    with suppress(ZeroDivisionError):
        (update_digests if chore == "digests" else poll_feedback)(host.services)
    assert stored(host.services.store, host.repo_id) == 0


@on_one_database
@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "where", "before"),
    [
        (1, indexing, "read_pages"),
        (0, Indexer, "_put_issues"),
        (1, Indexer, "_put_issues"),
        (1, Indexer, "_surplus"),
        (0, Indexer, "_save_progress"),
    ],
)
def test_what_is_erased_and_ours_again_during_a_step_is_read_from_the_start(
    host: Host, steps: int, where: object, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step that is overtaken knows a place to go on at, before which nothing is in the index any more."""
    host.load(520)
    host.sim.install(REPO)
    host.work(1 + steps)
    real, store = getattr(where, before), host.services.store
    again = iter([True])

    def overtaken(*arguments: object) -> object:
        if next(again, False):
            known = store.repositories.get(host.repo_id)
            assert known is not None
            erase_repository(host.repo_id, host.services)
            store.repositories.upsert(known.summary, known.installation, host.services.now())
            host.services.indexing.begin(known.summary, known.installation, host.services.now() + 1.0)
        return real(*arguments)

    monkeypatch.setattr(where, before, overtaken)
    host.work()
    assert not next(again, False)
    assert set(host.indexed()) == set(range(1, 521))
    assert host.services.indexing.ready(host.repo_id)
