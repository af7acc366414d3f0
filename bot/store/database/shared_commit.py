"""Shares SQLite's commits between threads, since each commit waits for the disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")

# Seconds in which others may join a commit, as PostgreSQL's `commit_delay` has it.
_DELAY = 0.002


class SharedCommit(Generic[T]):
    """Threads that write at about the same moment share one commit.

    One thread writes for all. What comes while it waits for the disk goes into the next commit. This is a group commit
    (Gawlick and Kinkade, "Varieties of Concurrency Control in IMS/VS Fast Path", 1985).
    """

    def __init__(self, write: Callable[[Sequence[T]], Sequence[bool]], patience: float | None) -> None:
        """`write` commits several together, and answers for each. A caller waits `patience` seconds for its turn."""
        self._commit = write
        self._patience = patience
        self._changing = threading.Lock()
        self._waiting: list[tuple[T, Future[bool]]] = []
        self._writing = False

    def write(self, new: T) -> bool:
        """Commit this, and return the answer of `write`. Raises TimeoutError, RuntimeError or the commit's error."""
        answer = Future[bool]()
        with self._changing:
            if not self._writing:
                threading.Thread(target=self._write, name="shared-commit", daemon=True).start()
                self._writing = True
            self._waiting.append((new, answer))
        try:
            return answer.result(self._patience)
        except TimeoutError:
            if answer.cancel():
                raise
        # It is being written, and the database has a patience of its own.
        return answer.result()

    def _write(self) -> None:
        while True:
            time.sleep(_DELAY)
            with self._changing:
                gathered, self._waiting = self._waiting, []
                self._writing = bool(gathered)
            if not gathered:
                return
            batch = [(new, answer) for new, answer in gathered if answer.set_running_or_notify_cancel()]
            try:
                for (_, answer), result in zip(batch, self._commit([new for new, _ in batch]), strict=True):
                    answer.set_result(result)
            # Whatever ends this thread, the waiting ones get an answer.
            except BaseException as problem:
                for _, answer in batch:
                    answer.set_exception(problem)
