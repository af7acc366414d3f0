"""Writing to SQLite for several threads at once: each commit there waits for the disk."""

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
    """Threads that have something to write at about the same moment share one commit.

    A thread writes for all, and whatever comes while it waits for the disk is written together afterwards. This is a
    group commit (Gawlick and Kinkade, "Varieties of Concurrency Control in IMS/VS Fast Path", 1985).
    """

    def __init__(self, write: Callable[[Sequence[T]], Sequence[bool]], patience: float | None) -> None:
        """`write` commits several together, and answers for each. Who waits for longer than `patience` seconds, the
        writing itself not counted, is told so; None waits without end.
        """
        self._commit = write
        self._patience = patience
        self._changing = threading.Lock()
        self._waiting: list[tuple[T, Future[bool]]] = []
        self._writing = False

    def write(self, new: T) -> bool:
        """The answer; it is committed when this returns.

        Raises TimeoutError, RuntimeError where the system gives no thread, or what was raised for those that were
        written together.
        """
        told = Future[bool]()
        with self._changing:
            if not self._writing:
                threading.Thread(target=self._write, name="shared-commit", daemon=True).start()
                self._writing = True
            self._waiting.append((new, told))
        try:
            return told.result(self._patience)
        except TimeoutError:
            if told.cancel():
                raise
        # It is being written or refused: the database has a patience of its own.
        return told.result()

    def _write(self) -> None:
        """Write as long as something waits."""
        while True:
            time.sleep(_DELAY)
            with self._changing:
                gathered, self._waiting = self._waiting, []
                self._writing = bool(gathered)
            if not gathered:
                return
            batch = [(new, told) for new, told in gathered if told.set_running_or_notify_cancel()]
            try:
                for (_, told), answer in zip(batch, self._commit([new for new, _ in batch]), strict=True):
                    told.set_result(answer)
            # Whatever ends this thread, those that wait for it have an answer.
            except BaseException as problem:
                for _, told in batch:
                    told.set_exception(problem)
