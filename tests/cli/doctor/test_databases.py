"""What `doppel doctor` says of databases that cannot be used, or not to the full."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.app.wiring.clients import prepare_databases
from bot.platform.settings import load
from bot.storage.engine import make_engine, write
from tests.cli.doctor.conftest import Found

pytestmark = pytest.mark.slow


def test_databases_are_looked_into(examine: Callable[..., Found], tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'there.db'}")
    with write(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE one (a)")
    engine.dispose()
    assert examine(DATABASE_URL=f"sqlite:///{tmp_path / 'there.db'}")["database"][1].endswith("can be written")
    (tmp_path / "note.db").write_text("this is no database, but it is long enough to be read as one" * 20)
    broken = examine(DATABASE_URL=f"sqlite:///{tmp_path / 'note.db'}")["database"]
    assert broken[0] == "broken" and broken[1].endswith("cannot be used (the file is not an SQLite database)")
    away = examine(DATABASE_URL="postgresql://ann:hush@127.0.0.1:9/doppel")
    assert away["database"][0] == away["queue"][0] == "broken"
    assert away["database"][1].endswith("cannot be used (nothing listens there)")
    assert "hush" not in str(away)


def test_what_opens_a_database_is_not_shown_wherever_it_stands(examine: Callable[..., Found]) -> None:
    places = "host=127.0.0.1&sslpassword=opens-it&sslmode=disable"
    found = examine(DATABASE_URL=f"postgresql://ann:opens-it@127.0.0.1:1/doppel?password=opens-it&{places}")
    for subject in ("database", "queue"):
        health, says, _ = found[subject]
        assert health == "broken" and "sslmode=disable" in says
    assert "opens-it" not in json.dumps(found)


def test_a_full_disk_is_told_of_a_database_that_can_be_locked(
    examine: Callable[..., Found], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'there.db'}"
    engine = make_engine(url)
    with write(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE one (a)")
    engine.dispose()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4096))
    health, says, mend = examine(DATABASE_URL=url)["database"]
    assert health == "broken" and says.endswith("cannot be written: its disk is full")
    assert mend.startswith("Make room;")


def test_a_store_of_a_later_release_is_told(examine: Callable[..., Found], store_url: str) -> None:
    """After going back several releases commands fail with errors of SQL, and refer to the doctor."""
    assert "schema" not in examine(DATABASE_URL=store_url)
    engine = make_engine(store_url)
    with write(engine) as connection:
        connection.exec_driver_sql("UPDATE store_version SET version_num = '9999'")
    engine.dispose()
    health, says, mend = examine(DATABASE_URL=store_url)["schema"]
    assert (health, says.partition(",")[0]) == ("warning", "of a later release than this one")
    assert "backup" in mend


@pytest.mark.postgres
def test_a_server_that_takes_no_writes_is_told(
    examine: Callable[..., Found], new_database: Callable[[str], str]
) -> None:
    url = new_database("postgres")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        name = sa.make_url(url).database
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    engine.dispose()
    found = examine(DATABASE_URL=url)
    assert [found[subject][0] for subject in ("database", "queue")] == ["broken", "broken"]
    assert found["queue"][1].endswith("cannot be used (it is read-only)")


@pytest.mark.postgres
def test_tables_that_belong_to_another_role_are_told(
    examine: Callable[..., Found], new_database: Callable[[str], str], tmp_path: Path
) -> None:
    """As where a superuser has restored them; or the role may make none, as by default since PostgreSQL 15."""
    url = sa.make_url(new_database("postgres"))
    engine, role = sa.create_engine(url, isolation_level="AUTOCOMMIT"), f"guest_of_{url.database}"
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        try:
            empty = examine(DATABASE_URL=url.set(username=role).render_as_string(False))
            prepare_databases(load({"DATABASE_URL": url.render_as_string(False), "DOPPEL_HOME": "."}, tmp_path))
            found = examine(DATABASE_URL=url.set(username=role).render_as_string(False))
        finally:
            connection.exec_driver_sql(f"DROP ROLE {role}")
    engine.dispose()
    for health, says, mend in (empty["database"], empty["queue"], found["database"], found["queue"]):
        assert health == "broken" and says.endswith("cannot be used (this role lacks a right)")
        assert "docs/operations.md" in mend


@pytest.mark.postgres
def test_why_a_server_lets_nobody_in_is_told(examine: Callable[..., Found], new_database: Callable[[str], str]) -> None:
    url = sa.make_url(new_database("postgres"))
    elsewhere = url.set(database="nowhere").render_as_string(hide_password=False)
    assert examine(DATABASE_URL=elsewhere)["database"][1].endswith("(the server has no such database or user)")
