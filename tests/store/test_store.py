"""What the store promises, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sqlalchemy as sa

from bot.domain.entities import RepoRef, Repository
from bot.domain.feedback import StoredCalibration, UserVerdictKind
from bot.storage import Store
from bot.storage.commands import UsageLimit
from bot.storage.schema import metadata
from tests.store.posting import note_posted

ACME = RepoRef("acme", "App")
NOW = 1_000_000.0


def _add(store: Store, repo_id: int, name: str = "app", installation: int | None = 7, now: float = NOW) -> None:
    store.repositories.upsert(Repository(repo_id, RepoRef("acme", name), private=False), installation, now)


def _fill(store: Store, repo_id: int, number: int = 3) -> None:
    """Something in every table that holds things of a repository."""
    _add(store, repo_id)
    note_posted(store, repo_id, number, comment_id=11, now=NOW)
    store.verdicts.add(repo_id, number, 9, UserVerdictKind.NOT, actor="ann", command_id=31, now=NOW)
    empty = [name for name, count in _rows(store, repo_id).items() if not count]
    with store.engine.begin() as connection:
        for table in metadata.sorted_tables:
            if table.name in empty:
                connection.execute(sa.insert(table).values(_row(table, repo_id, number)))


def _row(table: sa.Table, repo_id: int, number: int) -> dict[str, Any]:
    """A row with some value in each column."""
    values = {sa.Text: "1", sa.LargeBinary: b"1", sa.Boolean: True}
    # What numbers its rows by itself does so.
    row = {
        column.name: values.get(type(column.type), 1)
        for column in table.columns
        if column is not table.autoincrement_column
    }
    return row | {"repo_id": repo_id} | ({"number": number} if "number" in table.c else {})


def _rows(store: Store, repo_id: int) -> dict[str, int]:
    with store.engine.connect() as connection:
        return {
            table.name: connection.execute(
                sa.select(sa.func.count()).select_from(table).where(table.c.repo_id == repo_id)
            ).scalar_one()
            for table in metadata.sorted_tables
            if "repo_id" in table.c
        }


class TestRepositories:
    def test_upsert_keeps_a_known_installation_and_takes_over_the_rest(self, store: Store) -> None:
        _add(store, 1)
        store.repositories.upsert(Repository(1, ACME, private=True, archived=True), None, NOW + 1)
        found = store.repositories.get(1)
        assert found is not None
        assert (found.ref, found.private, found.archived, found.installation) == (ACME, True, True, 7)

    def test_by_name_ignores_case_and_prefers_the_one_heard_of_last(self, store: Store) -> None:
        _add(store, 2, now=NOW)
        _add(store, 1, now=NOW + 1)
        found = store.repositories.by_name(RepoRef("ACME", "aPP"))
        assert found is not None
        assert found.id == 1

    def test_list_and_suspend_go_by_installation(self, store: Store) -> None:
        _add(store, 1, "b")
        _add(store, 2, "a")
        _add(store, 3, "c", installation=8)
        store.repositories.suspend(7, True)
        assert [(one.id, one.suspended) for one in store.repositories.list(7)] == [(2, True), (1, True)]
        assert [one.suspended for one in store.repositories.list(8)] == [False]
        assert len(store.repositories.list()) == 3


class TestForgetting:
    def test_c6a_forget_erases_every_table_and_leaves_other_repositories(self, store: Store) -> None:
        _fill(store, 1)
        _fill(store, 2)
        before = _rows(store, 1)
        assert all(before.values()), "the test must put something into every table"
        store.forget(1)
        assert not any(_rows(store, 1).values())
        assert _rows(store, 2) == before

    def test_forget_issue_takes_verdicts_of_both_directions(self, store: Store) -> None:
        _fill(store, 1, number=3)
        note_posted(store, 1, 4, comment_id=12, now=NOW)
        store.verdicts.add(1, 4, 3, UserVerdictKind.NOT, actor="ann", command_id=32, now=NOW)
        store.forget_issue(1, 3)
        assert store.comments.get(1, 3) is None
        assert store.comments.get(1, 4) is not None
        assert store.verdicts.rejected(1, 9) == set()
        assert store.verdicts.rejected(1, 4) == set()
        assert store.repositories.get(1) is not None


def test_c7_a_calibration_that_somebody_has_overtaken_by_putting_the_bar_back_keeps_nothing(store: Store) -> None:
    calibrations = store.calibrations
    assert calibrations.move(1, None, 0.6, 0, 6, NOW)
    assert not calibrations.move(1, None, 0.1, 6, 0, NOW + 1), "another worker was first"
    before = calibrations.get(1)
    assert before == StoredCalibration(0.6, 0.0, NOW, 0, 6)
    assert not calibrations.move(1, before, 0.6, 0, 7, NOW + 2), "it stays where it is"
    assert calibrations.get(1) == StoredCalibration(0.6, 0.0, NOW, 0, 7)
    calibrations.reset(1, NOW + 3)
    assert not calibrations.move(1, before, 0.55, 0, 8, NOW + 4)
    after = calibrations.get(1)
    assert after == StoredCalibration(None, NOW + 3, NOW + 3)
    assert calibrations.move(1, after, 0.1, 7, 0, NOW + 5)
    assert calibrations.get(1) == StoredCalibration(0.1, NOW + 3, NOW + 5, 7, 0)


class TestUsage:
    def test_nobody_is_kept_waiting_by_a_clock_that_was_set_back(self, store: Store) -> None:
        for use in ("a", "b"):
            assert store.usage.refuse(1, "ann", [use], [UsageLimit(2, 60)], NOW + 3_600) is None
        assert store.usage.refuse(1, "ann", ["c"], [UsageLimit(2, 60)], NOW) is None

    def test_c5_several_uses_at_once_are_counted_each_or_not_at_all(self, store: Store) -> None:
        def allow(*uses: str) -> bool:
            return store.usage.refuse(1, "ann", uses, [UsageLimit(4, 60)], NOW) is None

        assert allow("a", "b", "c")
        assert not allow("d", "e")
        assert allow("d")
        assert allow("a", "b", "c"), "a retry is allowed though nothing is left"
        assert not allow("e")

    def test_c5_an_installations_repositories_have_the_limits_together(self, store: Store) -> None:
        for repo_id, installation in ((1, 7), (2, 7), (3, 8)):
            ref = RepoRef("acme", f"app-{repo_id}")
            store.repositories.upsert(Repository(repo_id, ref, private=False), installation, NOW)
        hour, minute, own = UsageLimit(4, 3_600, together=True), UsageLimit(2, 60, together=True), UsageLimit(3, 3_600)

        def refuse(repo_id: int, login: str, at: float) -> UsageLimit | None:
            return store.usage.refuse(repo_id, login, [str(at)], [own, hour, minute], NOW + at)

        assert refuse(1, "ann", 0) is refuse(2, "ann", 1) is None
        assert refuse(1, "bob", 2) == minute
        assert refuse(3, "bob", 3) is None, "another installation has a budget of its own"
        assert refuse(2, "ann", 70) is None
        assert refuse(1, "ann", 140) == own
        assert refuse(1, "bob", 141) is None
        assert refuse(2, "cid", 290) == hour
        assert refuse(2, "cid", 3_600) is None

    def test_uses_at_once_do_not_exceed_the_limit(self, store: Store) -> None:
        def use(number: int) -> bool:
            return store.usage.refuse(1, "ann", [str(number)], [UsageLimit(3, 60)], NOW) is None

        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(use, range(12))) == 3


class TestTexts:
    def test_a_missing_file_is_remembered_as_such(self, store: Store) -> None:
        assert store.cached_files.get(1, "settings") is None
        store.cached_files.put(1, "settings", None, NOW)
        found = store.cached_files.get(1, "settings")
        assert found is not None
        assert (found.text, found.fetched_at) == (None, NOW)
