"""The bar that long work shows, on stderr, so that stdout holds the result alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[tuple[Progress, TaskID]]:
    """Rich's bar and its one task: `what` is done, how much of `total` (None: not known yet), how long still."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # One time alone, what is left and at the end how long it took: nobody could tell two apart.
    with Progress(*columns, TimeRemainingColumn(elapsed_when_finished=True), console=Console(stderr=True)) as progress:
        yield progress, progress.add_task(what, total=total)
