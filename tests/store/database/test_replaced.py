"""A worker notices that its database is another one, when that is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.storage.replaced import SqliteDatabases


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """The files of store and queue."""
    paths = [tmp_path / "doppel.db", tmp_path / "doppel-queue.db"]
    for path in paths:
        path.write_bytes(b"as it was")
    return paths


def files(paths: list[Path]) -> SqliteDatabases:
    return SqliteDatabases([f"sqlite:///{path}" for path in paths])


def replace(path: Path, content: bytes) -> None:
    """Put another file in its place, as `mv` does."""
    other = path.with_suffix(".new")
    other.write_bytes(content)
    other.replace(path)


@pytest.mark.parametrize("which", [0, 1])
def test_one_replaced_file_is_enough_as_soon_as_it_stays_as_it_is(paths: list[Path], which: int) -> None:
    present = files(paths)
    assert [present.replaced(), present.replaced()] == [False, False]
    replace(paths[which], b"restored")
    assert not present.replaced(), "it may be half of a copy"
    with paths[which].open("ab") as file:
        file.write(b" to the end")
    assert not present.replaced(), "it was"
    assert present.replaced()


def test_what_is_taken_away_is_waited_for(paths: list[Path]) -> None:
    present = files(paths)
    paths[0].unlink()
    assert [present.replaced(), present.replaced()] == [False, False]
    paths[0].write_bytes(b"restored")
    assert [present.replaced(), present.replaced()] == [False, True]


def test_what_is_written_in_the_same_file_is_no_replacement(paths: list[Path]) -> None:
    present = files(paths)
    with paths[0].open("ab") as file:
        file.write(b", and more")
    assert [present.replaced(), present.replaced(), present.replaced()] == [False, False, False]
