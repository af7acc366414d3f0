"""Options that name a file to be read or to be written, and how it is written."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

import click

from bot.errors import UserError

READ_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""A file that is read."""

READ_FILE_OR_STDIN = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
"""The same, or - for standard input; `read_bytes` reads either."""


def read_bytes(file: Path) -> bytes:
    """What is in the file, or comes by standard input."""
    return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()


def keep_apart(option: str, out: Path | None, *read: Path) -> None:
    """Raise UserError where the file to be written is one of those that are read, which it would overwrite."""
    if out is not None and out.exists() and any(one.exists() and out.samefile(one) for one in read):
        raise UserError(f"{option}: {out} is one of the files that are read, and would be overwritten")


def is_no_file(path: Path) -> bool:
    """Whether something is there that can be written to, and in whose place no file may be put: a pipe, /dev/null."""
    return path.exists() and not path.is_file()


@contextmanager
def told_if_refused(what: object) -> Iterator[None]:
    """Raise UserError, beginning with `what`, where the system refuses a file.

    That the reader of a pipe has gone is no mistake, and is told by the exit code alone, as it is of stdout.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise UserError(f"{what}: {problem.strerror}") from None


def opened(path: Path) -> TextIO:
    """A file to be written line by line, compressed where its name ends in .gz, as whoever reads it goes by that."""
    if path.suffix == ".gz":
        # It is a text file in this mode.
        return cast("TextIO", gzip.open(path, "wt", encoding="utf-8"))
    return path.open("w", encoding="utf-8")


def write(path: Path, text: str) -> None:
    """Write a file as a whole, compressed as `opened` does it. Raises UserError where it cannot be written."""
    with told_if_refused(path), opened(path) as file:
        file.write(text)


def replace_file(path: Path, pieces: Iterable[str], mode: int = 0o600) -> None:
    """Write a file with this mode, whole or not at all: what is written piece by piece takes the name at the end.

    A link stays a link. What is no file, as a pipe or /dev/null, is written to as it is. Raises OSError.
    """
    if is_no_file(path):
        with path.open("w", encoding="utf-8") as stream:
            stream.writelines(pieces)
        return
    target = path.resolve()
    # Nobody else can read it, whatever comes between here and the end.
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


class WrittenFile(click.Path):
    """A file that is written when the work is done, which can take hours: what is in its way is said before it."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Fails where there is no folder for it, and for what means the terminal to other programs."""
        if value == "-":
            self.fail("a file is written; /dev/stdout is the terminal, and ./- a file of that name", param, ctx)
        path = super().convert(value, param, ctx)
        assert isinstance(path, Path), "as it was asked for"
        if not path.absolute().parent.is_dir():
            self.fail(f"there is no folder {path.parent}", param, ctx)
        if not path.exists() and not os.access(path.absolute().parent, os.W_OK | os.X_OK):
            self.fail(f"the folder {path.parent} cannot be written to", param, ctx)
        return path
