"""Files that are read or written, and JSON for files and terminals."""

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
def file_errors(what: object) -> Iterator[None]:
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
    with file_errors(f"{option}: {path}" if option else path), opened(path) as file:
        file.write(text)


class EndedBySignal(KeyboardInterrupt):
    """Somebody has sent the signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def cleanup_on_signal() -> Iterator[None]:
    """Within, SIGTERM and a closed terminal raise Ended, as Ctrl-C does: the command puts away what it has made.

    The first one counts, whatever a library makes of it: those in C wrap what is raised within them. Putting away is
    not interrupted. `nohup` keeps its meaning.
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
    """Show a progress bar on stderr, so that stdout holds the result alone. `total` is None while it is not known."""
    # `doppel --help` has no use for it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # One time alone, what is left and at the end how long it took: nobody could tell two apart.
    with Progress(*columns, TimeRemainingColumn(elapsed_when_finished=True), console=Console(stderr=True)) as progress:
        yield progress, progress.add_task(what, total=total)


@contextmanager
def database_errors(which: str, mend: str = "") -> Iterator[None]:
    """Raise Unavailable in place of SQLAlchemy's errors, with `which` and no address, which can hold a password.

    Of the host's own database `main` tells; this is for another.
    """
    import sqlalchemy as sa

    from bot.storage.failures import why

    try:
        yield
    except sa.exc.SQLAlchemyError as failure:
        raise Unavailable(f"{which} failed ({why(failure)}){mend}") from None


@contextmanager
def temporary_index_errors() -> Iterator[None]:
    """The same where an index in a temporary file fails, with the folder that is meant and how to have another."""
    import tempfile

    with database_errors(f"the index in {tempfile.gettempdir()}", "; TMPDIR names another place"):
        yield


@contextmanager
def token_errors(repo: RepoRef) -> Iterator[None]:
    """Turn what GitHub refuses because of a wrong token into what the caller can do about it, as UserError."""
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
    """The same for a repository that does not exist, or not for who asks, and for a key of another App."""
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
