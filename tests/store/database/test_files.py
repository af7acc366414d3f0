"""Which file a database's address means."""

from __future__ import annotations

from pathlib import Path

import pytest

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
