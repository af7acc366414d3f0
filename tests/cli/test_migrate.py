"""What `doppel migrate` says, and `doppel migrate-store` of databases that cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from bot.app.cli import cli
from bot.storage.engine import make_engine, write
from tests.calling import call


def test_a_schema_of_a_later_release_does_not_pass_for_the_present_one(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever went back too far was told that all is well, and nothing worked."""
    monkeypatch.setenv("DATABASE_URL", store_url)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path))

    def says() -> str:
        result = CliRunner().invoke(cli, ["migrate"], catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout.rstrip()

    assert says().endswith(": the schema is up to date")
    engine = make_engine(store_url)
    with write(engine) as connection:
        connection.exec_driver_sql("UPDATE store_version SET version_num = '9999'")
    engine.dispose()
    assert says().endswith(": the schema is of a later release, and left as it is")


def test_of_two_databases_the_one_that_fails_is_named(
    new_store: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only the queue's file was damaged, people were sent to mend the store's."""
    store = Path(str(sa.make_url(new_store("sqlite")).database))
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{store}")
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path))
    store.with_name("doppel-queue.db").write_bytes(b"no database" * 1000)
    ended = call("migrate")
    assert ended.exit_code == 3
    says = "doppel: the queue's database failed: the file is not an SQLite database; see `doppel doctor`\n"
    assert ended.stderr == says


@pytest.mark.parametrize("option", ["--from", "--to"])
def test_of_a_move_the_database_that_cannot_be_reached_is_named(option: str, new_store: Callable[[str], str]) -> None:
    """It was called that of DATABASE_URL, whichever it was."""
    ours = new_store("sqlite")
    addresses = {"--from": ours, "--to": ours} | {option: "postgresql://ann@127.0.0.1:9/doppel"}
    ended = call("migrate-store", *(one for pair in addresses.items() for one in pair))
    assert ended.exit_code == 3
    assert (
        ended.stderr
        == "doppel: the database postgresql+psycopg://ann@127.0.0.1:9/doppel failed (nothing listens there)\n"
    )
