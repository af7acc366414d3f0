"""How a command ends that somebody ends, how far it is, and what it says where something fails that is not ours."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from bot.domain.entities import RepoRef
from bot.domain.errors import Forbidden, KeyRefused, NotFound, Unavailable, UserError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Ended(KeyboardInterrupt):
    """Somebody has sent the signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def ended_in_order() -> Iterator[None]:
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
        raise Ended(number)

    for number in usual:
        signal.signal(number, end)
    try:
        yield
    except BaseException as failure:
        if came and not isinstance(failure, Ended):
            raise Ended(came[0]) from failure
        raise
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[tuple[Progress, TaskID]]:
    """A bar on stderr, so that stdout holds the result alone: `what` is done, how much of `total`, how long still."""
    # `doppel --help` has no use for it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # One time alone, what is left and at the end how long it took: nobody could tell two apart.
    with Progress(*columns, TimeRemainingColumn(elapsed_when_finished=True), console=Console(stderr=True)) as progress:
        yield progress, progress.add_task(what, total=total)


@contextmanager
def told_of_database(which: str, mend: str = "") -> Iterator[None]:
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
def told_of_temporary_index() -> Iterator[None]:
    """The same where an index in a temporary file fails, with the folder that is meant and how to have another."""
    import tempfile

    with told_of_database(f"the index in {tempfile.gettempdir()}", "; TMPDIR names another place"):
        yield


@contextmanager
def told_of_tokens(repo: RepoRef) -> Iterator[None]:
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
def explain_if_inaccessible(repo: RepoRef) -> Iterator[None]:
    """The same for a repository that does not exist, or not for who asks, and for a key of another App."""
    try:
        with told_of_tokens(repo):
            yield
    except NotFound as problem:
        raise UserError(
            f"{repo}: there is no such repository, or it cannot be read with what Doppel is set up with. As the App it "
            "must be installed there; GITHUB_TOKEN counts where no APP_ID is set."
        ) from problem
    except KeyRefused as problem:
        raise UserError(f"{repo}: APP_ID and PRIVATE_KEY must belong to one App that is there: {problem}") from problem
