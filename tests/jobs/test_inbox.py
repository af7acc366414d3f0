"""The inbox while its database misbehaves: nothing is accepted, and the caller is told so."""

from __future__ import annotations

import shutil
import socket
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.deliveries.database import QueueUnavailable, ensure_schema, queue_engine, queue_url
from bot.deliveries.events import PushEvent
from bot.deliveries.inbox import Inbox, new_job
from bot.deliveries.queue import NewJob
from bot.domain.entities import RepoRef, Repository
from bot.platform.settings import Settings
from bot.storage import replaced as files
from bot.storage.sqlite import SharedCommit
from tests.jobs.conftest import event
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.slow

PUSH = PushEvent(1, Repository(5, RepoRef("acme", "app"), False))


def settings_for(url: str, home: Path) -> Settings:
    return Settings(home=home, database_url=url)


def assert_unavailable(inbox: Inbox) -> None:
    """Both ways of asking fail."""
    for ask in (lambda: inbox.put("d", PUSH), inbox.check):
        with pytest.raises(QueueUnavailable):
            ask()


def test_the_queue_has_a_file_beside_the_store_or_is_in_the_same_postgres() -> None:
    home = Path("/data")
    assert queue_url(settings_for("sqlite:////data/doppel.db", home)) == "sqlite:////data/doppel-queue.db"
    assert queue_url(settings_for("postgresql+psycopg://u:p@h/d", home)) == "postgresql+psycopg://u:p@h/d"


def test_the_schema_can_be_ensured_by_many_at_once_and_again(database_url: str, tmp_path: Path) -> None:
    settings = settings_for(database_url, tmp_path)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: ensure_schema(settings), range(6)))
    ensure_schema(settings)
    inbox = Inbox(settings)
    assert inbox.put("d", PUSH)
    inbox.close()


@pytest.mark.postgres
def test_a_server_that_takes_no_writes_takes_no_deliveries(new_database: Callable[[str], str], tmp_path: Path) -> None:
    """Hosted ones do that to a database whose disk or plan is used up; it is no standby, and not in recovery."""
    url = new_database("postgres")
    inbox = Inbox(settings_for(url, tmp_path))
    assert inbox.put("before", PUSH)
    engine, name = sa.create_engine(url, isolation_level="AUTOCOMMIT"), sa.make_url(url).database
    with engine.connect() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    inbox.close()
    assert_unavailable(inbox)
    with engine.connect() as connection:
        connection.exec_driver_sql("SET default_transaction_read_only = off")
        connection.exec_driver_sql(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    engine.dispose()
    inbox.check()
    assert inbox.put("after", PUSH)
    inbox.close()


@pytest.mark.postgres
def test_a_role_that_may_insert_no_more_takes_no_deliveries(new_database: Callable[[str], str], tmp_path: Path) -> None:
    """As Heroku does to who has used up their plan: what is there can be read, changed and deleted."""
    url = sa.make_url(new_database("postgres"))
    role = f"poor_{url.database}"
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        if not connection.exec_driver_sql("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").scalar():
            pytest.skip("only a superuser may make a role and give it a database")
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN PASSWORD 'poor'")
        connection.exec_driver_sql(f"ALTER DATABASE {url.database} OWNER TO {role}")
    inbox = Inbox(settings_for(url.set(username=role, password="poor").render_as_string(False), tmp_path))
    inbox.check()
    assert inbox.put("before", PUSH)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"REVOKE INSERT ON jobs FROM {role}")
    assert_unavailable(inbox)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"GRANT INSERT ON jobs TO {role}")
        inbox.check()
        assert inbox.put("after", PUSH)
        inbox.close()
        connection.exec_driver_sql(f"REASSIGN OWNED BY {role} TO CURRENT_USER")
        connection.exec_driver_sql(f"DROP OWNED BY {role}")
        connection.exec_driver_sql(f"DROP ROLE {role}")
    engine.dispose()


def test_many_threads_put_each_delivery_once(database_url: str, tmp_path: Path) -> None:
    inbox = Inbox(settings_for(database_url, tmp_path))
    with ThreadPoolExecutor(8) as pool:
        new = list(pool.map(lambda place: inbox.put(f"d{place % 20}", PUSH), range(60)))
    assert sum(new) == 20
    inbox.close()


def test_a_full_disk_is_told_before_a_delivery_is_refused_for_it(
    new_database: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite gives its lock on a full disk as well, and `/readyz` must not say that deliveries can be taken."""
    inbox = Inbox(settings_for(new_database("sqlite"), tmp_path))
    inbox.check()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4096))
    with pytest.raises(QueueUnavailable, match="full"):
        inbox.check()
    monkeypatch.undo()
    inbox.check()
    inbox.close()


def test_what_is_taken_goes_into_the_file_that_is_there_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup is restored beside a running receiver, against the manual's word. The lost file is still open, and what
    was written to it would be gone with the process, though GitHub was told that it is kept.
    """
    monkeypatch.setattr(files, "SETTLED", 1e9)
    settings = settings_for(f"sqlite:///{tmp_path / 'doppel.db'}", tmp_path)
    inbox, queue = Inbox(settings), tmp_path / "doppel-queue.db"
    assert inbox.put("before", PUSH)
    backup = tmp_path / "backup"
    with closing(sqlite3.connect(queue)) as there, closing(sqlite3.connect(backup)) as copy:
        there.backup(copy)
    assert inbox.put("lost", PUSH)
    for file in tmp_path.glob("doppel-queue.db*"):
        file.unlink()
    assert_unavailable(inbox)
    assert not queue.exists(), "an empty file would be in the way of the restored one"
    whole = backup.read_bytes()
    for part in (whole[: len(whole) // 2], whole):
        queue.write_bytes(part)
        assert_unavailable(inbox)
    monkeypatch.setattr(files, "SETTLED", 0.0)
    inbox.check()
    assert (inbox.put("before", PUSH), inbox.put("after", PUSH)) == (False, True)
    with closing(sqlite3.connect(queue)) as there:
        kept = there.execute("SELECT id FROM jobs ORDER BY 1").fetchall()
    assert kept == [("after",), ("before",)]
    inbox.close()


def test_a_damaged_or_forbidden_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "doppel-queue.db").write_bytes(b"this is no database" * 100)
    assert_unavailable(Inbox(settings_for(f"sqlite:///{tmp_path / 'doppel.db'}", tmp_path)))
    (tmp_path / "file").touch()
    assert_unavailable(Inbox(settings_for(f"sqlite:///{tmp_path / 'file' / 'doppel.db'}", tmp_path)))


def test_postgres_that_refuses_or_is_silent_is_unavailable(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        url = f"postgresql+psycopg://u:hidden@127.0.0.1:{port}/d"
        assert_unavailable(Inbox(settings_for(url, tmp_path), patience=1.0))
    with pytest.raises(QueueUnavailable) as refused:
        Inbox(settings_for(url, tmp_path)).put("d", PUSH)
    assert "hidden" not in str(refused.value)


@pytest.mark.postgres
def test_a_locked_postgres_table_is_unavailable(new_database: Callable[[str], str], tmp_path: Path) -> None:
    settings = settings_for(new_database("postgres"), tmp_path)
    inbox = Inbox(settings, patience=0.5)
    inbox.check()
    engine = queue_engine(settings)
    with engine.begin() as connection:
        connection.execute(sa.text("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(QueueUnavailable):
            inbox.put("d", PUSH)
    assert inbox.put("d", PUSH)
    inbox.close()
    engine.dispose()


def test_a_full_disk_is_told_and_forgotten(tmp_path: Path) -> None:
    inbox = Inbox(settings_for(f"sqlite:///{tmp_path / 'doppel.db'}", tmp_path))
    assert inbox.put("before", PUSH)
    with inbox._engine.connect() as connection:
        # The least that SQLite takes is what it has.
        connection.exec_driver_sql("PRAGMA max_page_count=1")
    accepted = 0
    with pytest.raises(QueueUnavailable):
        for accepted in range(1_000):
            inbox.put(f"during {accepted}", PUSH)
    with inbox._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    assert inbox.put(f"during {accepted}", PUSH), "nothing was kept of it"
    assert not inbox.put("before", PUSH)
    inbox.close()


class Disk:
    """What is written, commit by commit; the first is held up until `go` is set."""

    def __init__(self) -> None:
        self.commits: list[list[str]] = []
        self.begun, self.go = threading.Event(), threading.Event()
        self.failure: BaseException | None = None

    def put(self, entries: Sequence[NewJob]) -> list[bool]:
        self.commits.append([one.id for one in entries])
        self.begun.set()
        assert self.go.wait(LONGEST)
        if self.failure and len(self.commits) > 1:
            raise self.failure
        return [one.id in "24" for one in entries]


@pytest.fixture
def disk() -> Disk:
    return Disk()


def shared_by(disk: Disk, patience: float = LONGEST) -> SharedCommit[NewJob]:
    return SharedCommit(disk.put, patience)


def gathered(disk: Disk, shared: SharedCommit[NewJob], ids: str) -> list[bool | str]:
    """Outcomes of the deliveries, the first of which was being written when the others came."""

    def put(one: str) -> bool | str:
        try:
            return shared.write(new_job(one, event(1)))
        except OSError as failure:
            return type(failure).__name__

    with ThreadPoolExecutor(len(ids)) as pool:
        outcomes = [pool.submit(put, ids[0])]
        assert disk.begun.wait(LONGEST)
        outcomes += [pool.submit(put, one) for one in ids[1:]]
        wait_until(lambda: len(shared._waiting) == len(ids) - 1)
        disk.go.set()
        return [one.result(LONGEST) for one in outcomes]


def test_what_comes_while_one_writes_is_written_together_and_each_learns_its_own_outcome(disk: Disk) -> None:
    assert gathered(disk, shared_by(disk), "12345") == [False, True, False, True, False]
    assert [sorted(commit) for commit in disk.commits] == [["1"], ["2", "3", "4", "5"]]


def test_a_failure_is_told_to_all_that_were_written_together_and_to_nobody_else(disk: Disk) -> None:
    shared, disk.failure = shared_by(disk), OSError("no space left")
    assert gathered(disk, shared, "234") == [True, "OSError", "OSError"]
    disk.failure = None
    assert shared.write(new_job("4", event(1)))


def test_a_system_that_gives_no_thread_refuses_one_and_not_all_after_it(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = shared_by(disk)
    disk.go.set()
    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError):
            shared.write(new_job("2", event(1)))
    assert shared.write(new_job("4", event(1)))
    assert disk.commits == [["4"]]


def refused(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_who_waits_too_long_is_told_so_and_is_not_written(disk: Disk) -> None:
    shared = shared_by(disk, 0.05)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(shared.write, new_job("2", event(1)))
        assert disk.begun.wait(LONGEST)
        with pytest.raises(TimeoutError):
            shared.write(new_job("4", event(1)))
        disk.go.set()
        assert first.result(LONGEST)
    # Who waited is gone, perhaps after the next turn had begun for it.
    assert [commit for commit in disk.commits if commit] == [["2"]]
