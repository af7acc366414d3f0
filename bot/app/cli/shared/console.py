"""What several commands write and how they end: files, JSON, progress, signals, and errors in the caller's words."""

from __future__ import annotations

import gzip
import json
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO, cast

from bot.domain.entities import RepoRef
from bot.domain.errors import Forbidden, KeyRefused, NotFound, Unavailable, UserError
from bot.platform.private_files import open_new

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


# What a terminal would obey, beyond what JSON escapes anyway, and halves of characters, which UTF-8 has no bytes for.
# In JSON they can stand in texts alone.
_ODD = re.compile("[\x7f-\x9f\ud800-\udfff]")


def in_json(value: Any, indent: int | None = None) -> str:
    """JSON with readable strangers' text; control characters and half characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def read_bytes(file: Path) -> bytes:
    """The content of a file, or of standard input for `-`."""
    return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()


def refuse_overwriting(option: str, out: Path | None, *read: Path | None) -> None:
    """Raise UserError if the file to be written is one of those that are read."""
    if out is not None and out.exists() and any(one and one.exists() and out.samefile(one) for one in read):
        raise UserError(f"{option}: {out} is one of the files that are read, and would be overwritten")


@contextmanager
def file_errors(what: object) -> Iterator[None]:
    """Turn the system's errors about a file into UserError beginning with `what`; a closed pipe is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise UserError(f"{what}: {problem.strerror}") from None


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """Open a file to be written that only its owner can read; a name that ends in .gz is compressed."""
    with open_new(path) as file:
        if path.suffix != ".gz":
            yield file
            return
        with gzip.open(file.buffer, "wt", encoding="utf-8") as compressed:
            # It is a text file in this mode.
            yield cast("TextIO", compressed)


def write(path: Path, text: str, option: str = "") -> None:
    """Write a file as `opened` does. Raises UserError, with the option that names it."""
    with file_errors(f"{option}: {path}" if option else path), opened(path) as file:
        file.write(text)


class EndedBySignal(KeyboardInterrupt):
    """Somebody has sent the signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def cleanup_on_signal() -> Iterator[None]:
    """Within, SIGTERM and a closed terminal raise EndedBySignal, as Ctrl-C does, so the command cleans up.

    The first signal counts, even if a library wraps it in an error of its own; cleaning up is not interrupted. `nohup`
    keeps its meaning.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    usual = {number: handler for number, handler in usual.items() if handler is not signal.SIG_IGN}

    def end(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        for one in usual:
            signal.signal(one, signal.SIG_IGN)
        raise EndedBySignal(number)

    for number in usual:
        signal.signal(number, end)
    try:
        yield
    except BaseException as failure:
        if came and not isinstance(failure, EndedBySignal):
            raise EndedBySignal(came[0]) from failure
        raise
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[tuple[Progress, TaskID]]:
    """A progress bar on stderr, so that stdout holds the result alone; `total` is None while unknown."""
    # `doppel --help` has no use for it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # One time alone, what is left and at the end how long it took: nobody could tell two apart.
    with Progress(*columns, TimeRemainingColumn(elapsed_when_finished=True), console=Console(stderr=True)) as progress:
        yield progress, progress.add_task(what, total=total)


@contextmanager
def database_errors(which: str, mend: str = "") -> Iterator[None]:
    """Raise Unavailable instead of SQLAlchemy's errors, without the address, which can hold a password.

    `main` does this for the host's own database; use this for another one.
    """
    import sqlalchemy as sa

    from bot.storage.failures import why

    try:
        yield
    except sa.exc.SQLAlchemyError as failure:
        raise Unavailable(f"{which} failed ({why(failure)}){mend}") from None


@contextmanager
def temporary_index_errors() -> Iterator[None]:
    """The same for an index in a temporary file, with its folder and how to choose another."""
    import tempfile

    with database_errors(f"the index in {tempfile.gettempdir()}", "; TMPDIR names another place"):
        yield


@contextmanager
def token_errors(repo: RepoRef) -> Iterator[None]:
    """Turn GitHub's refusal of a wrong token into a UserError."""
    try:
        yield
    except Forbidden as problem:
        if not problem.unknown:
            raise
        raise UserError(
            f"{repo}: GitHub does not know who asks: a GITHUB_TOKEN that is wrong or has expired."
        ) from problem


@contextmanager
def access_errors(repo: RepoRef) -> Iterator[None]:
    """The same for a repository that the caller cannot read, and for a key of another App."""
    try:
        with token_errors(repo):
            yield
    except NotFound as problem:
        raise UserError(
            f"{repo}: there is no such repository, or it cannot be read with what Doppel is set up with. As the App it "
            "must be installed there; GITHUB_TOKEN counts where no APP_ID is set."
        ) from problem
    except KeyRefused as problem:
        raise UserError(f"{repo}: APP_ID and PRIVATE_KEY must belong to one App that is there: {problem}") from problem
