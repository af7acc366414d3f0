"""C6a: what a lost delivery should have told is found out by asking GitHub."""

from __future__ import annotations

import pytest

from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import Unavailable
from bot.github.app import AppClient
from handlers.installations import reconcile
from tests.about import stored
from tests.e2e.harness import Doppel
from tests.e2e.test_c6a_access import use


@pytest.fixture(autouse=True)
def two_others(doppel: Doppel) -> None:
    """Of the other tests' installations two are left: each costs requests at every look at all of them."""
    store = doppel.services.store
    others = [row for row in store.repositories.list() if row.id != doppel.repository.id]
    for row in others[2:]:
        doppel.sim.installations.pop(row.installation or 0, None)
        store.forget(row.id)


def other_rows(doppel: Doppel) -> int:
    return len(doppel.services.store.repositories.list()) - (stored(doppel.services.store, doppel.repository.id) > 0)


def test_c6a_what_is_no_longer_ours_is_erased_alone(doppel: Doppel) -> None:
    use(doppel)
    reconcile(doppel.services)
    others = other_rows(doppel)
    with doppel.unheard():
        doppel.sim.remove_from_installation(doppel.repo)
    reconcile(doppel.services)
    assert stored(doppel.services.store, doppel.repository.id) == 0
    assert other_rows(doppel) == others


def test_c6a_an_installation_that_has_ended_is_erased(doppel: Doppel) -> None:
    use(doppel)
    with doppel.unheard():
        doppel.sim.uninstall(doppel.owner)
    reconcile(doppel.services)
    assert stored(doppel.services.store, doppel.repository.id) == 0


def test_c6a_what_is_installed_anew_meanwhile_stays(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between what GitHub answers and the erasing."""
    with doppel.unheard():
        doppel.sim.uninstall(doppel.owner)
    ask = AppClient.is_installed_on

    def before_it_came_back(app: AppClient, ref: RepoRef, repo_id: int) -> bool:
        there = ask(app, ref, repo_id)
        doppel.do.install(doppel.repo)
        return there

    monkeypatch.setattr(AppClient, "is_installed_on", before_it_came_back)
    reconcile(doppel.services)
    known = doppel.known
    assert known.installation in doppel.sim.installations


def test_c6a_a_repository_whose_name_another_one_has_by_now_is_erased(doppel: Doppel) -> None:
    use(doppel)
    with doppel.unheard():
        doppel.sim.delete_repository(doppel.repo)
        doppel.sim.add_repository(doppel.repo)
        doppel.sim.install(doppel.repo)
    reconcile(doppel.services)
    assert stored(doppel.services.store, doppel.repository.id) == 0


def test_c6a_new_and_changed_repositories_are_taken_over(doppel: Doppel) -> None:
    use(doppel)
    before = stored(doppel.services.store, doppel.repository.id)
    with doppel.unheard():
        other = doppel.sim.add_repository(f"{doppel.owner}/other")
        doppel.sim.install(f"{doppel.owner}/other")
        doppel.sim.rename_repository(doppel.repo, "renamed")
        doppel.sim.set_private(f"{doppel.owner}/renamed", True)
    reconcile(doppel.services)
    known, new = map(doppel.services.store.repositories.get, (doppel.repository.id, other.id))
    assert known is not None
    assert new is not None
    assert (known.ref.name, known.private, known.installation) == ("renamed", True, new.installation)
    # What was remembered of its settings file goes with the name, and is read anew; all else stays.
    assert stored(doppel.services.store, doppel.repository.id) >= before - 1 > 0


def test_c6a_suspensions_are_noted_and_erase_nothing(doppel: Doppel) -> None:
    use(doppel)
    before = stored(doppel.services.store, doppel.repository.id)
    for suspended in (True, False):
        with doppel.unheard():
            doppel.sim.suspend(doppel.owner, suspended)
        reconcile(doppel.services)
        known = doppel.known
        assert known.suspended is suspended
        assert stored(doppel.services.store, doppel.repository.id) >= before > 0


def test_c1_an_installation_that_github_does_not_show_yet_is_asked_for_again(doppel: Doppel) -> None:
    with doppel.unheard():
        doppel.sim.uninstall(doppel.owner)
    reconcile(doppel.services)
    doppel.sim.faults.add("GET /app/installations/*", 404)
    doppel.do.install(doppel.repo)
    assert doppel.known.installation in doppel.sim.installations


def test_c6a_who_installs_anew_is_not_suspended_as_before(doppel: Doppel) -> None:
    with doppel.unheard():
        doppel.sim.suspend(doppel.owner, True)
    reconcile(doppel.services)
    assert doppel.known.suspended
    with doppel.unheard():
        doppel.sim.uninstall(doppel.owner)
    doppel.do.install(doppel.repo)
    assert not doppel.known.suspended and doppel.known.installation in doppel.sim.installations


@pytest.mark.parametrize("route", ["GET /app/installations", "GET /installation/repositories", "GET */installation"])
def test_c6a_nothing_is_erased_while_github_fails(doppel: Doppel, route: str) -> None:
    use(doppel)
    before = stored(doppel.services.store, doppel.repository.id)
    with doppel.unheard():
        doppel.sim.remove_from_installation(doppel.repo)
    doppel.sim.faults.add(route, 502, times=None)
    with pytest.raises(Unavailable):
        reconcile(doppel.services)
    assert stored(doppel.services.store, doppel.repository.id) >= before > 0
    doppel.sim.faults.clear()
    reconcile(doppel.services)
    assert stored(doppel.services.store, doppel.repository.id) == 0


def test_c6a_a_list_with_gaps_erases_nothing(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    use(doppel)
    before = stored(doppel.services.store, doppel.repository.id)

    def with_gaps(app: AppClient, installation_id: int) -> list[Repository]:
        return []

    monkeypatch.setattr(AppClient, "repositories", with_gaps)
    reconcile(doppel.services)
    monkeypatch.setattr(AppClient, "installations", lambda app: [])
    reconcile(doppel.services)
    # Reading GitHub may have added to what is remembered of its answers.
    assert stored(doppel.services.store, doppel.repository.id) >= before > 0
