"""What `doppel migrate` says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.store.database.engine import make_engine, write


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
