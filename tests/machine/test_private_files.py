"""What holds texts of private repositories is readable by nobody else, whatever the folder and the umask allow."""

from __future__ import annotations

import gzip
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

import bot
from bot.app.cli.shared.console import write
from bot.app.wiring.clients import prepare_databases
from bot.domain.entities import RepoRef
from bot.domain.errors import UserError
from bot.platform.private_files import make_file, open_new, opened, replace_file
from bot.platform.settings import Settings
from bot.quality.evaluation.history import HistoryFile
from bot.storage import open_store


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
    first.muted.set(1, 1, "ann", 0.0)
    names = {"doppel.db", "doppel.db-wal", "doppel.db-shm"}
    assert modes(home) == dict.fromkeys(names, "0o600")
    for name in names:
        (home / name).chmod(0o644)
    second = open_store(settings)
    second.muted.set(1, 2, "ann", 0.0)
    assert modes(home) == dict.fromkeys(names, "0o600")
    assert second.muted.is_muted(1, 1) and second.muted.is_muted(1, 2)
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
    HistoryFile(other, 7, RepoRef("acme", "app"))
    assert mode(other) == mode(other / "history") == "0o700"
    assert modes(other / "history") == {"7.jsonl": "0o600"}


def open_and_write(path: Path, text: str) -> None:
    with open_new(path) as file:
        file.write(text)


@pytest.mark.parametrize("written", [write, open_and_write, lambda path, text: replace_file(path, [text])])
def test_whatever_is_written_is_private_and_goes_to_no_other_name(
    written: Callable[[Path, str], None], tmp_path: Path
) -> None:
    (there := tmp_path / "there").write_text("of before")
    there.chmod(0o666)
    with there.open() as opened_before:
        written(there, "private")
        written(tmp_path / "new", "private")
        assert modes(tmp_path) == {"there": "0o600", "new": "0o600"}
        assert (there.read_text(), opened_before.read()) == ("private", "of before")
    for target in (there, tmp_path / "nowhere"):
        (link := tmp_path / "link").unlink(missing_ok=True)
        link.symlink_to(target)
        with pytest.raises((OSError, UserError), match="this is a link, which is not followed"):
            written(link, "other")
    assert there.read_text() == "private" and not (tmp_path / "nowhere").exists()


def test_what_is_compressed_is_private_too(tmp_path: Path) -> None:
    with opened(tmp_path / "a.gz") as file:
        file.write("private")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"private"
    assert modes(tmp_path) == {"a.gz": "0o600"}


def test_the_systems_own_links_are_meant_by_their_names() -> None:
    handle = os.open(os.devnull, os.O_WRONLY)
    try:
        write(Path(f"/dev/fd/{handle}"), "private")
        write(Path("/dev/null"), "private")
    finally:
        os.close(handle)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make something another user's")
def test_nothing_is_written_to_a_pipe_that_another_user_reads(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    os.chown(pipe, 12_345, -1)
    with os.fdopen(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0) as reader:
        with pytest.raises(UserError, match="this is another user's"):
            write(pipe, "private")
        assert not reader.read()


def test_a_history_follows_no_link(tmp_path: Path) -> None:
    make_file(tmp_path / "history" / "7.jsonl")
    (other := tmp_path / "other").write_text("mine")
    (tmp_path / "history" / "8.jsonl").symlink_to(other)
    with pytest.raises(UserError, match="this is a link, which is not followed"):
        HistoryFile(tmp_path, 8, RepoRef("acme", "app"))
    assert other.read_text() == "mine"


def test_files_are_written_here_and_nowhere_else() -> None:
    """But for the set-up page's credentials, which take the place of no file."""
    writes = re.compile(r"""write_text|write_bytes|open\([^)\n]*["'][wax]|O_CREAT|mkstemp""")
    package = Path(bot.__file__).parent
    found = {str(path.relative_to(package)) for path in package.rglob("*.py") if writes.search(path.read_text("utf-8"))}
    assert found == {
        "platform/private_files.py",
        "app/demo/show.py",  # a log that private_files has made
        "app/action/runner.py",  # the runner's own files for summary and outputs
    }
