"""Files and folders that only the user of this process can look into: they hold texts of private repositories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_OF_A_DATABASE = "That is a file of the database's, or its folder."


def make_folder(path: Path) -> None:
    """Make a folder with mode 0700; one that is there already stays as it is, since it may be somebody else's.

    Folders above it that are missing are made too, and are private as well. Raises OSError.
    """
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Make a file with mode 0600, in a folder as of `make_folder`; one that is there already is closed to others.

    Raises OSError.
    """
    make_folder(path.parent)
    if not path.exists():
        path.touch(mode=0o600)
    close_to_others(path)


def close_to_others(path: Path) -> None:
    """Give a file mode 0600 if it is there; one of another user, who has let this one in, keeps its mode.

    So does what is no file: a folder that was named in place of one is somebody's, and would be shut to all.
    """
    with suppress(FileNotFoundError, PermissionError):
        if path.is_file():
            path.chmod(0o600)


@contextmanager
def for_a_database() -> Iterator[None]:
    """Mark what the system refuses here as told by `is_of_a_database`; its kind, by which callers know it, stays."""
    try:
        yield
    except OSError as problem:
        problem.add_note(_OF_A_DATABASE)
        raise


def is_of_a_database(problem: OSError) -> bool:
    """Whether the system refused a database's file: the host has named another place than it may use."""
    return _OF_A_DATABASE in getattr(problem, "__notes__", ())
