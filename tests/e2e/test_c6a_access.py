"""C6a: the list of repositories follows GitHub's events, and what is stored goes when access ends."""

from __future__ import annotations

import pytest

from bot.domain.entities import RepoRef
from bot.domain.errors import Unavailable
from bot.quality.evaluation.history import HistoryFile, erase_history, repositories_with_history
from bot.storage.repositories import Progress
from handlers import installations, issues
from handlers.repositories import erase_repository
from tests.about import stored
from tests.e2e.harness import Doppel
from tests.e2e.late import held_back
from tests.e2e.reports import FIRST
from tests.waiting import wait_until


def use(doppel: Doppel) -> None:
    """Something in most tables."""
    doppel.read_before(*FIRST)
    doppel.open(*FIRST, author="reporter")
    doppel.write(2, "/duplicates not #1", "reporter")
    doppel.write(2, "/duplicates mute", "reporter")
    assert len(doppel.said(2)) == 3
    assert stored(doppel.services.store, doppel.repository.id) > 8


def test_c6a_no_file_holds_a_word_of_what_was_erased(doppel: Doppel) -> None:
    """While the bot runs on: neither the pages that have become free, nor the log of what was written."""
    number = doppel.open("Crash while exporting", "It says `Zwielichtfehler` of page 7.", author="ann").number
    doppel.do.edit_issue(doppel.repo, number, body="It says `Zwielichtfehler` of page 8.")
    files = sorted(doppel.services.settings.home.glob("doppel.db*"))
    assert any(b"Zwielichtfehler" in file.read_bytes() for file in files)
    doppel.do.uninstall(doppel.owner)
    assert [file.name for file in files if b"Zwielichtfehler" in file.read_bytes()] == []


def test_c6a_uninstalling_erases(doppel: Doppel) -> None:
    use(doppel)
    home, other = doppel.services.settings.home, doppel.repository.id + 1_000
    for repo_id in (doppel.repository.id, other):
        HistoryFile(home, repo_id, RepoRef(doppel.owner, "app"))
    doppel.do.uninstall(doppel.owner)
    assert stored(doppel.services.store, doppel.repository.id) == 0
    assert list(repositories_with_history(home)) == [other], "what `doppel evaluate` read of it is gone too"
    erase_history(home, other)


def test_c6a_what_waited_when_access_ended_leaves_nothing_behind(doppel: Doppel) -> None:
    with doppel.worker_away():
        doppel.sim.open_issue(doppel.repo, "reporter", *FIRST)
        doppel.sim.comment(doppel.repo, 1, "reporter", "/duplicates mute")
        doppel.sim.uninstall(doppel.owner)
    doppel.settle()
    assert stored(doppel.services.store, doppel.repository.id) == 0


def test_c6a_taking_a_repository_out_of_the_installation_erases_it_alone(doppel: Doppel) -> None:
    other = doppel.sim.add_repository(f"{doppel.owner}/other")
    doppel.do.install(f"{doppel.owner}/other")
    use(doppel)
    installation = next(one for one in doppel.sim.installations.values() if one.account.login == doppel.owner)
    doppel.do.drop(installation, doppel.repository, doppel.sim.who("admin-person"))
    assert stored(doppel.services.store, doppel.repository.id) == 0
    assert doppel.services.store.repositories.get(other.id) is not None


def test_c6a_suspending_keeps_and_marks(doppel: Doppel) -> None:
    use(doppel)
    before = stored(doppel.services.store, doppel.repository.id)
    doppel.do.suspend(doppel.owner)
    known = doppel.known
    assert known.suspended
    doppel.do.suspend(doppel.owner, False)
    known = doppel.known
    assert not known.suspended
    assert stored(doppel.services.store, doppel.repository.id) >= before > 0


def test_c6a_a_renamed_repository_keeps_what_is_known(doppel: Doppel) -> None:
    use(doppel)
    doppel.sim.rename_repository(doppel.repo, "renamed")
    doppel.repo = f"{doppel.owner}/renamed"
    doppel.settle()
    known = doppel.known
    assert known.ref.name == "renamed"
    assert doppel.services.store.verdicts.rejected(doppel.repository.id, 2) == {1}
    doppel.open(*FIRST, author="bob")
    assert "/issues/1" in doppel.advice(3)


def test_c6a_a_renaming_makes_no_repository_known_whose_issues_are_not_read_in(doppel: Doppel) -> None:
    """It was erased, or never heard of: what happens next on an issue makes it known, and fills its index."""
    doppel.services.store.forget(doppel.repository.id)
    doppel.sim.rename_repository(doppel.repo, "renamed")
    doppel.repo = f"{doppel.owner}/renamed"
    doppel.settle()
    assert stored(doppel.services.store, doppel.repository.id) == 0
    doppel.open(*FIRST, author="ann")
    assert doppel.services.indexing.ready(doppel.repository.id)


def test_c6a_what_was_queued_before_a_renaming_is_still_answered(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    with doppel.worker_away():
        doppel.sim.open_issue(doppel.repo, "reporter", *FIRST)
        doppel.sim.rename_repository(doppel.repo, "renamed")
    doppel.repo = f"{doppel.owner}/renamed"
    doppel.settle()
    assert doppel.advice(2)


def test_c6a_visibility_and_archiving_are_noted(doppel: Doppel) -> None:
    doppel.sim.set_private(doppel.repo, True)
    doppel.do.archive_repository(doppel.repo)
    known = doppel.known
    assert (known.private, known.archived) == (True, True)


def test_c6a_a_list_that_does_not_tell_of_archiving_changes_nothing_of_it(doppel: Doppel) -> None:
    doppel.do.archive_repository(doppel.repo)
    doppel.sim.suspend(doppel.owner)
    doppel.do.suspend(doppel.owner, False)
    known = doppel.known
    assert (known.archived, known.suspended) == (True, False)


def test_c6a_a_deleted_repository_is_forgotten(doppel: Doppel) -> None:
    use(doppel)
    doppel.do.delete_repository(doppel.repo)
    assert stored(doppel.services.store, doppel.repository.id) == 0


def test_c6a_what_arrives_after_access_ended_leaves_nothing_behind_though_all_can_read_it(doppel: Doppel) -> None:
    """A public repository can be read without any access."""
    with held_back(doppel) as deliver_late:
        doppel.sim.open_issue(doppel.repo, "reporter", *FIRST)
        doppel.sim.comment(doppel.repo, 1, "reporter", "/duplicates mute")
    doppel.do.remove_from_installation(doppel.repo)
    deliver_late()
    assert stored(doppel.services.store, doppel.repository.id) == 0


def test_c6a_an_installation_that_is_told_of_after_its_end_leaves_nothing_behind(doppel: Doppel) -> None:
    doppel.do.uninstall(doppel.owner)
    with held_back(doppel) as deliver_late:
        doppel.sim.install(doppel.repo)
    doppel.do.uninstall(doppel.owner)
    deliver_late()
    assert stored(doppel.services.store, doppel.repository.id) == 0


def test_c6a_a_removal_that_was_overtaken_erases_nothing_of_the_installation_that_has_it_now(doppel: Doppel) -> None:
    """The repository moves to an account with the App, and what its old account tells comes last."""
    elsewhere = f"{doppel.owner}-next"
    doppel.do.install(elsewhere)
    with held_back(doppel) as deliver_late:
        doppel.sim.remove_from_installation(doppel.repo)
    doppel.sim.transfer_repository(doppel.repo, elsewhere)
    doppel.repo = f"{elsewhere}/app"
    doppel.settle()
    use(doppel)
    before = stored(doppel.services.store, doppel.repository.id)
    deliver_late()
    assert stored(doppel.services.store, doppel.repository.id) >= before > 0


def test_c6a_a_renaming_that_is_told_late_changes_nothing(doppel: Doppel) -> None:
    with held_back(doppel) as deliver_late:
        doppel.sim.rename_repository(doppel.repo, "second")
        doppel.sim.set_private(f"{doppel.owner}/second", False)
    doppel.sim.rename_repository(f"{doppel.owner}/second", "third")
    doppel.do.set_private(f"{doppel.owner}/third", True)
    deliver_late()
    known = doppel.known
    assert (known.ref.name, known.private) == ("third", True)


def test_c6a_an_installation_that_is_told_of_late_brings_no_former_name_back(doppel: Doppel) -> None:
    """What it says of its repositories is as old as it is: they may be private by now."""
    with held_back(doppel) as deliver_late:
        doppel.sim.suspend(doppel.owner)
        doppel.sim.suspend(doppel.owner, False)
    doppel.sim.rename_repository(doppel.repo, "second")
    doppel.do.set_private(f"{doppel.owner}/second", True)
    deliver_late()
    known = doppel.known
    assert (known.ref.name, known.private) == ("second", True)


def test_c6a_what_could_not_be_read_while_access_rested_is_read_when_it_comes_back(doppel: Doppel) -> None:
    with held_back(doppel):
        doppel.sim.suspend(doppel.owner)
    other = doppel.sim.add_repository(f"{doppel.owner}/other")
    doppel.do.install(f"{doppel.owner}/other")
    assert not doppel.services.indexing.ready(other.id)
    doppel.do.suspend(doppel.owner, False)
    assert doppel.services.indexing.ready(other.id)


def test_c6a_what_could_not_be_read_by_its_former_name_is_read_by_the_new_one(doppel: Doppel) -> None:
    store, repo_id = doppel.services.store, doppel.repository.id
    store.backfills.set(repo_id, Progress())
    with held_back(doppel) as deliver_late:
        doppel.sim.rename_repository(doppel.repo, "second")
    doppel.resync()
    doppel.settle()
    assert not doppel.services.indexing.ready(repo_id)
    deliver_late()
    assert doppel.services.indexing.ready(repo_id)


def test_c6a_what_is_told_of_a_deletion_is_not_believed_of_a_repository_that_is_there(doppel: Doppel) -> None:
    use(doppel)
    before = stored(doppel.services.store, doppel.repository.id)
    with held_back(doppel) as deliver_late:
        doppel.sim.emit("repository", "deleted", doppel.sim.who("admin-person"), repository=doppel.repository)
    deliver_late()
    assert stored(doppel.services.store, doppel.repository.id) >= before > 0


@pytest.mark.parametrize("name", ["issues", "installation", "installation_repositories", "repository"])
def test_c6a_a_delivery_that_is_sent_again_as_another_event_erases_nothing(doppel: Doppel, name: str) -> None:
    """The signature is over the payload alone. Who reads along in a channel has both, and may send them again."""
    use(doppel)
    doppel.do.delete_comment(doppel.sim.comment(doppel.repo, 1, "reporter", "Never mind."), "reporter")
    before = stored(doppel.services.store, doppel.repository.id)
    told = [one for one in doppel.sim.webhooks.log if (one.event, one.action) == ("issue_comment", "deleted")]
    told[-1].event, told[-1].guid = name, f"swapped-{name}-{doppel.repository.id}"
    doppel.sim.webhooks.redeliver(told[-1])
    doppel.settle()
    assert stored(doppel.services.store, doppel.repository.id) == before > 0


def test_c6a_what_is_told_of_an_uninstallation_is_not_believed_of_one_that_is_there(doppel: Doppel) -> None:
    use(doppel)
    before = stored(doppel.services.store, doppel.repository.id)
    (there,) = [one for one in doppel.sim.installations.values() if one.account.login == doppel.owner]
    with held_back(doppel) as deliver_late:
        who, repositories = doppel.sim.who("admin-person"), [doppel.repository]
        doppel.sim.emit("installation", "deleted", who, installations=[there], repositories=repositories)
    deliver_late()
    assert stored(doppel.services.store, doppel.repository.id) == before > 0


def test_c6a_what_arrives_after_a_quick_new_installation_is_worked_on(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    with doppel.worker_away():
        doppel.sim.uninstall(doppel.owner)
        doppel.sim.install(doppel.repo)
        doppel.sim.webhooks.join()
        doppel.sim.open_issue(doppel.repo, "reporter", *FIRST)
    doppel.settle()
    assert "/issues/1" in doppel.advice(2)


def test_c6a_what_a_new_installation_has_stays_while_the_former_one_is_being_erased(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many repositories that takes so long that another thread hears meanwhile of the new one."""
    other = doppel.sim.add_repository(f"{doppel.owner}/other")
    doppel.do.install(f"{doppel.owner}/other")
    store, ids, anew_as = doppel.services.store, {doppel.repository.id, other.id}, list[int]()

    def anew() -> set[int]:
        return {one.id for one in store.repositories.list(anew_as[0])}

    def erase(repo_id: int, *rest: object, **more: object) -> None:
        erase_repository(repo_id, *rest, **more)  # type: ignore[arg-type]
        if not anew_as:
            anew_as.append(doppel.sim.install(doppel.owner).id)
            wait_until(lambda: anew() == ids, "hearing of the new installation")

    monkeypatch.setattr(installations, "erase_repository", erase)
    doppel.do.uninstall(doppel.owner)
    assert anew() == ids
    assert all(doppel.services.indexing.ready(repo_id) for repo_id in ids)


def test_c6a_work_on_a_repository_sees_no_other_private_one(doppel: Doppel) -> None:
    doppel.sim.install(doppel.owner)
    doppel.sim.clock.advance(3600)
    doppel.settle()
    doppel.sim.installation_tokens.clear()
    doppel.read_before(*FIRST)
    doppel.open(*FIRST)
    assert doppel.advice(2)
    tokens = [one for one in doppel.sim.installation_tokens.values() if one.installation.account.login == doppel.owner]
    assert [one.repositories for one in tokens] == [frozenset({doppel.repository.id})]


def test_c6a_work_that_fails_because_access_ended_meanwhile_is_not_tried_again(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for its next try it would keep what the delivery says."""
    tries = []

    def end(*_: object) -> None:
        tries.append(1)
        erase_repository(doppel.repository.id, doppel.services)
        raise Unavailable("GitHub is down")

    monkeypatch.setattr(issues, "advise", end)
    doppel.open(*FIRST)
    assert (len(tries), stored(doppel.services.store, doppel.repository.id)) == (1, 0)
