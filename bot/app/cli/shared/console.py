"""Code that several commands share: files and errors about them, JSON, and progress bars."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.domain.errors import UserError
from bot.platform.private_files import opened

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


# Control characters that JSON does not escape, and lone surrogates, which UTF-8 cannot encode. In JSON both can occur
# only inside strings.
_UNSAFE = re.compile("[\x7f-\x9f\ud800-\udfff]")


def in_json(value: Any, indent: int | None = None) -> str:
    """JSON in which other people's text stays readable; control characters and lone surrogates are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def echo_json(value: Any) -> None:
    click.echo(in_json(value, indent=2))


def read_bytes(file: Path) -> bytes:
    """The content of a file, or of standard input for `-`."""
    return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()


def refuse_overwriting(option: str, out: Path | None, *read: Path | None) -> None:
    """Raise UserError if the file to write is one of the files to read."""
    if out is not None and out.exists() and any(one and one.exists() and out.samefile(one) for one in read):
        raise UserError(f"{option}: {out} is one of the files that are read, and would be overwritten")


@contextmanager
def file_errors(what: object) -> Iterator[None]:
    """Turn the system's errors about a file into UserError beginning with `what`; BrokenPipeError passes unchanged."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise UserError(f"{what}: {problem.strerror}") from None


def write(path: Path, text: str, option: str = "") -> None:
    """Write a file as `opened` does. Raises UserError naming the file, and the `option` that gave it."""
    with file_errors(f"{option}: {path}" if option else path), opened(path) as file:
        file.write(text)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[tuple[Progress, TaskID]]:
    """A progress bar on stderr, so that stdout holds only the result; `total` is None while unknown."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # Show one time: the time left, and at the end the total. Two unlabelled times would be confusing.
    with Progress(*columns, TimeRemainingColumn(elapsed_when_finished=True), console=Console(stderr=True)) as progress:
        yield progress, progress.add_task(what, total=total)
