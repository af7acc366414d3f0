"""Which file a database's address means."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app.wiring.indexes import existing_store
from bot.platform.settings import Settings
from bot.storage.replaced import sqlite_file


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:////var/lib/doppel/doppel.db", "/var/lib/doppel/doppel.db"),
        ("sqlite:///doppel.db", "doppel.db"),
        ("sqlite:////var/lib/doppel/doppel.db?timeout=5", "/var/lib/doppel/doppel.db"),
        ("sqlite://", None),
        ("postgresql+psycopg://doppel:secret@db.example/doppel", None),
    ],
)
def test_the_file_of_a_database_is_what_its_address_names_without_the_options(url: str, file: str | None) -> None:
    assert sqlite_file(url) == (file and Path(file))


def test_a_store_is_there_whatever_options_its_address_has(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'a.db'}?timeout=5")
    with existing_store(settings) as before:
        assert before is None
    (tmp_path / "a.db").touch()
    with existing_store(settings) as store:
        assert store is not None
