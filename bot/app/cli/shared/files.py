"""Files that are read or written, and JSON for files and terminals."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from bot.domain.errors import UserError
from bot.platform.private_files import open_new

# What a terminal would obey, beyond what JSON escapes anyway, and halves of characters, which UTF-8 has no bytes for.
# In JSON they can stand in texts alone.
_ODD = re.compile("[\x7f-\x9f\ud800-\udfff]")


def in_json(value: Any, indent: int | None = None) -> str:
    """JSON in which strangers' text is left as it is, but for what is no text: that is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def read_bytes(file: Path) -> bytes:
    """What is in the file, or comes by standard input."""
    return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()


def keep_apart(option: str, out: Path | None, *read: Path | None) -> None:
    """Raise UserError where the file to be written is one of those that are read, which it would overwrite."""
    if out is not None and out.exists() and any(one and one.exists() and out.samefile(one) for one in read):
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
