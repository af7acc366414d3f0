"""What becomes of a reading whose repository is suspended, archived, renamed or taken away while it goes on."""

from __future__ import annotations

from typing import Any

import pytest

from bot.search.indexer import Indexer
from tests.indexing.conftest import REPO, Host, on_one_database

pytestmark = pytest.mark.slow


def test_c6a_access_that_ends_in_the_middle_of_a_step_leaves_nothing_behind(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.load(30)
    host.install_quietly()
    put = host.services.index.put

    def end_meanwhile(*arguments: object, **options: object) -> None:
        host.services.store.forget(host.repo_id)
        put(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(host.services.index, "put", end_meanwhile)
    host.work(1)
    assert (host.indexed(), host.progress()) == ({}, None)


@on_one_database
@pytest.mark.parametrize("rests", ["suspend", "archive_repository"])
def test_a_reading_that_is_broken_off_while_the_repository_rests_goes_on_afterwards(host: Host, rests: str) -> None:
    """Not hours later, when it would be taken for lost: nobody is at it any more."""
    host.load(520)
    host.install_quietly()
    host.work(1)
    rest, whose = getattr(host.sim, rests), "acme" if rests == "suspend" else REPO
    # The next step is queued already, and finds it at rest.
    rest(whose)
    host.work()
    assert not host.services.indexing.ready(host.repo_id)
    rest(whose, False)
    host.work()
    assert host.services.indexing.ready(host.repo_id)
    assert set(host.indexed()) == set(range(1, 521))


@on_one_database
def test_a_step_that_is_refused_since_the_repository_was_renamed_meanwhile_is_done_by_the_new_name(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The delivery that tells of it was worked on beside the step, and found nothing that had stopped."""
    host.load(520)
    host.install_quietly()
    host.work(1)
    real, first = Indexer.step, iter([True])

    def overtaken(*arguments: Any) -> None:
        if next(first, False):
            host.sim.rename_repository(REPO, "second")
            host.sim.webhooks.join()
            host.work(1)
        real(*arguments)

    monkeypatch.setattr(Indexer, "step", overtaken)
    host.work()
    assert host.services.indexing.ready(host.repo_id)
