"""Files and folders that only the user of this process can look into: they hold texts of private repositories."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

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


def is_no_file(path: Path) -> bool:
    """Whether something is there that can be written to, and in whose place no file may be put: a pipe, /dev/null."""
    return path.exists() and not path.is_file()


def keep_to_names(path: Path) -> None:
    """Raise OSError for a link: whoever put it there says what would be written to. Nor is another's pipe written to.

    The system's own, such as /dev/stdout, are meant by whoever names them.
    """
    folder = path.absolute().parent.resolve()
    if folder == Path("/dev") or folder.is_relative_to("/proc"):
        return
    if path.is_symlink():
        raise OSError(errno.ELOOP, "this is a link, which is not followed; name the file itself")
    if is_no_file(path) and path.stat().st_uid not in (0, os.geteuid()):
        raise PermissionError(errno.EACCES, "this is another user's")


def open_new(path: Path) -> TextIO:
    """Open a new file with mode 0600 to be written; one of that name goes, with all who have it open or may read it.

    What is no file, as a pipe or /dev/null, is written to as it is. Raises OSError, for a link as well.
    """
    keep_to_names(path)
    if is_no_file(path):
        return path.open("w", encoding="utf-8")
    path.unlink(missing_ok=True)
    # Fails if something has been put there meanwhile.
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")


def open_kept(path: Path) -> TextIO:
    """Open a file that is there to be read and written. Raises OSError, for a link as well."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+", encoding="utf-8")


def replace_file(path: Path, pieces: Iterable[str], mode: int = 0o600) -> None:
    """Write a file with this mode, whole or not at all: what is written piece by piece takes the name at the end.

    What is no file, as a pipe or /dev/null, is written to as it is. Raises OSError, for a link as well.
    """
    keep_to_names(path)
    if is_no_file(path):
        with path.open("w", encoding="utf-8") as stream:
            stream.writelines(pieces)
        return
    # Nobody else can read it, whatever comes between here and the end. /dev/stdout may be a file.
    target = path.resolve()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".")
    partial = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(pieces)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


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
