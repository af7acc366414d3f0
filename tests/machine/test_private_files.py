"""What holds texts of private repositories is readable by nobody else, whatever the folder and the umask allow."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from bot.evaluation.history_file import KeptHistory
from bot.model import RepoRef
from bot.settings import Settings
from bot.store import open_store
from bot.store.parts.counters import Counters
from bot.wiring.clients import prepare_databases


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def modes(folder: Path) -> dict[str, str]:
    return {path.name: mode(path) for path in folder.iterdir()}


def test_databases_in_a_folder_that_everybody_can_read_are_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    settings = Settings(home=home, database_url=f"sqlite:///{home / 'doppel.db'}")
    prepare_databases(settings)
    assert modes(home) and set(modes(home).values()) == {"0o600"}
    assert mode(home) == "0o755", "a folder that was there may serve others too"


def test_files_of_an_open_database_are_private_although_they_were_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = Settings(home=home, database_url=f"sqlite:///{home / 'doppel.db'}")
    first = open_store(settings)
    Counters(first.engine).add({"one": 1})
    names = {"doppel.db", "doppel.db-wal", "doppel.db-shm"}
    assert modes(home) == dict.fromkeys(names, "0o600")
    for name in names:
        (home / name).chmod(0o644)
    second = open_store(settings)
    Counters(second.engine).add({"one": 1})
    assert modes(home) == dict.fromkeys(names, "0o600")
    assert Counters(second.engine).all() == {"one": 2}
    first.close()
    second.close()


def test_a_folder_that_is_named_in_place_of_a_file_stays_open(tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir(mode=0o755)
    with pytest.raises(OperationalError):
        prepare_databases(Settings(home=home, database_url=f"sqlite:///{home}"))
    assert mode(home) == "0o755"


def test_a_data_folder_that_doppel_makes_is_private(tmp_path: Path) -> None:
    home = tmp_path / "some" / "home"
    prepare_databases(Settings(home=home, database_url=f"sqlite:///{home / 'doppel.db'}"))
    assert mode(home) == mode(home.parent) == "0o700"
    other = tmp_path / "other"
    KeptHistory(other, 7, RepoRef("acme", "app"))
    assert mode(other) == mode(other / "history") == "0o700"
    assert modes(other / "history") == {"7.jsonl": "0o600"}
