"""C6a: the list of repositories follows GitHub's events, and what is stored goes when access ends."""

from __future__ import annotations

import sqlalchemy as sa

from bot.model import RepoRef
from bot.store.schema import metadata
from tests.e2e.harness import Doppel

FIRST = ("Crash while exporting to PDF", "Exporting raises `PdfRenderError: page 7`.")


def stored(doppel: Doppel, repo_id: int) -> int:
    """How many rows there are about a repository, in all tables."""
    with doppel.services.store.engine.connect() as connection:
        return sum(
            connection.execute(
                sa.select(sa.func.count()).select_from(table).where(table.c.repo_id == repo_id)
            ).scalar_one()
            for table in metadata.sorted_tables
            if "repo_id" in table.c
        )


def use(doppel: Doppel) -> None:
    """Something in most tables."""
    doppel.open(*FIRST, author="ann")
    doppel.open(*FIRST, author="reporter")
    doppel.write(2, "/duplicates not #1", "reporter")
    doppel.write(2, "/duplicates mute", "reporter")
    assert len(doppel.said(2)) == 3
    assert stored(doppel, doppel.repository.id) > 8


def test_c6a_installed_repositories_are_listed(doppel: Doppel) -> None:
    known = doppel.services.store.repositories.get(doppel.repository.id)
    assert known is not None
    assert (known.ref, known.private, known.suspended) == (RepoRef(doppel.owner, "app"), False, False)


def test_c6a_uninstalling_erases(doppel: Doppel) -> None:
    use(doppel)
    doppel.sim.uninstall(doppel.owner)
    doppel.settle()
    assert stored(doppel, doppel.repository.id) == 0


def test_c6a_what_waited_when_access_ended_leaves_nothing_behind(doppel: Doppel) -> None:
    with doppel.worker_away():
        doppel.sim.open_issue(doppel.repo, "reporter", *FIRST)
        doppel.sim.comment(doppel.repo, 1, "reporter", "/duplicates mute")
        doppel.sim.uninstall(doppel.owner)
    doppel.settle()
    assert stored(doppel, doppel.repository.id) == 0


def test_c6a_taking_a_repository_out_of_the_installation_erases_it_alone(doppel: Doppel) -> None:
    other = doppel.sim.add_repository(f"{doppel.owner}/other")
    doppel.sim.install(f"{doppel.owner}/other")
    doppel.settle()
    use(doppel)
    installation = next(one for one in doppel.sim.installations.values() if one.account.login == doppel.owner)
    doppel.sim.drop(installation, doppel.repository, doppel.sim.who("admin-person"))
    doppel.settle()
    assert stored(doppel, doppel.repository.id) == 0
    assert doppel.services.store.repositories.get(other.id) is not None


def test_c6a_suspending_keeps_and_marks(doppel: Doppel) -> None:
    use(doppel)
    before = stored(doppel, doppel.repository.id)
    doppel.sim.suspend(doppel.owner)
    doppel.settle()
    known = doppel.services.store.repositories.get(doppel.repository.id)
    assert known is not None
    assert known.suspended
    doppel.sim.suspend(doppel.owner, False)
    doppel.settle()
    known = doppel.services.store.repositories.get(doppel.repository.id)
    assert known is not None
    assert not known.suspended
    assert stored(doppel, doppel.repository.id) == before


def test_c6a_a_renamed_repository_keeps_what_is_known(doppel: Doppel) -> None:
    use(doppel)
    doppel.sim.rename_repository(doppel.repo, "renamed")
    doppel.repo = f"{doppel.owner}/renamed"
    doppel.settle()
    known = doppel.services.store.repositories.get(doppel.repository.id)
    assert known is not None
    assert known.ref.name == "renamed"
    assert doppel.services.store.verdicts.rejected(doppel.repository.id, 2) == {1}
    doppel.open(*FIRST, author="bob")
    assert "/issues/1" in doppel.advice(3)


def test_c6a_what_was_queued_before_a_renaming_is_still_answered(doppel: Doppel) -> None:
    doppel.open(*FIRST, author="ann")
    with doppel.worker_away():
        doppel.sim.open_issue(doppel.repo, "reporter", *FIRST)
        doppel.sim.rename_repository(doppel.repo, "renamed")
    doppel.repo = f"{doppel.owner}/renamed"
    doppel.settle()
    assert doppel.advice(2)


def test_c6a_visibility_and_archiving_are_noted(doppel: Doppel) -> None:
    doppel.sim.privatize_repository(doppel.repo)
    doppel.sim.archive_repository(doppel.repo)
    doppel.settle()
    known = doppel.services.store.repositories.get(doppel.repository.id)
    assert known is not None
    assert (known.private, known.archived) == (True, True)


def test_c6a_a_deleted_repository_is_forgotten(doppel: Doppel) -> None:
    use(doppel)
    doppel.sim.delete_repository(doppel.repo)
    doppel.settle()
    assert stored(doppel, doppel.repository.id) == 0
