"""Makes files and folders private to this process's user, by default: they can hold texts of private repositories."""

from __future__ import annotations

import errno
import gzip
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, cast

_DATABASE_NOTE = "The path is a database's file, or the folder of such a file."


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents with mode 0700; existing folders stay as they are. Raises OSError."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Make a file with mode 0600, and its folder. An existing file of ours gets this mode too. Raises OSError."""
    make_folder(path.parent)
    if not path.exists():
        path.touch(mode=0o600)
    make_private(path)


def is_pipe_or_device(path: Path) -> bool:
    """Whether the path exists and is no file. Callers may write to a pipe or device, but must not replace it."""
    return path.exists() and not path.is_file()


def refuse_links(path: Path) -> None:
    """Raise OSError for a link or another user's pipe: both can redirect output. Allow root's pipes, /dev and /proc."""
    folder = path.absolute().parent.resolve()
    if folder == Path("/dev") or folder.is_relative_to("/proc"):
        return
    if path.is_symlink():
        raise OSError(errno.ELOOP, "this is a link, which is not followed; name the file itself")
    if is_pipe_or_device(path) and path.stat().st_uid not in (0, os.geteuid()):
        raise PermissionError(errno.EACCES, "this is another user's")


def open_new(path: Path) -> TextIO:
    """Open a pipe, or a new file with mode 0600. Deletes an existing file first. Raises OSError, also for links."""
    refuse_links(path)
    if is_pipe_or_device(path):
        return path.open("w", encoding="utf-8")
    path.unlink(missing_ok=True)
    # Fails if somebody has created a file of this name meanwhile.
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """Open a file as `open_new` does. Compress what is written if the name ends in .gz."""
    with open_new(path) as file:
        if path.suffix != ".gz":
            yield file
            return
        with gzip.open(file.buffer, "wt", encoding="utf-8") as compressed:
            yield cast("TextIO", compressed)


def open_existing(path: Path) -> TextIO:
    """Open an existing file for reading and writing. Raises OSError, also for a link."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+", encoding="utf-8")


def replace_file(path: Path, pieces: Iterable[str], mode: int = 0o600) -> None:
    """Write a file with this mode, completely or not at all; or write to a pipe. Raises OSError, also for links."""
    refuse_links(path)
    if is_pipe_or_device(path):
        with path.open("w", encoding="utf-8") as stream:
            stream.writelines(pieces)
        return
    # `mkstemp` makes the file private from the start. Resolve the path, because /dev/stdout may be a link to a file.
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


def make_private(path: Path) -> None:
    """Give an existing file mode 0600, unless it is another user's or a folder."""
    with suppress(FileNotFoundError, PermissionError):
        if path.is_file():
            path.chmod(0o600)


@contextmanager
def for_a_database() -> Iterator[None]:
    """Mark OSErrors from the `with` block, so that `is_of_a_database` recognises them. Their type does not change."""
    try:
        yield
    except OSError as problem:
        problem.add_note(_DATABASE_NOTE)
        raise


def is_of_a_database(problem: OSError) -> bool:
    """Whether the error comes from a block of `for_a_database`."""
    return _DATABASE_NOTE in getattr(problem, "__notes__", ())
