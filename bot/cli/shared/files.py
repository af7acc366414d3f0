"""Options that name a file to be read or to be written, and how it is written."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

import click

from bot.errors import UserError
from bot.machine.private_files import is_no_file, keep_to_names, open_new

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


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """A file to be written line by line that its owner alone can read, as of `open_new`.

    It is compressed where its name ends in .gz, as whoever reads it goes by that.
    """
    with open_new(path) as file:
        if path.suffix != ".gz":
            yield file
            return
        with gzip.open(file.buffer, "wt", encoding="utf-8") as compressed:
            # It is a text file in this mode.
            yield cast("TextIO", compressed)


def write(path: Path, text: str, option: str = "") -> None:
    """Write a file as `opened` does it. Raises UserError, with the option that names it, where it cannot be written."""
    with told_if_refused(f"{option}: {path}" if option else path), opened(path) as file:
        file.write(text)


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
        if not is_no_file(path) and not os.access(path.absolute().parent, os.W_OK | os.X_OK):
            self.fail(f"the folder {path.parent} cannot be written to", param, ctx)
        try:
            keep_to_names(path)
        except OSError as problem:
            self.fail(f"{path}: {problem.strerror}", param, ctx)
        return path
