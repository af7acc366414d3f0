"""What a process remembers of GitHub's answers (T6)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

MOST_KEPT = 16 << 20
"""Bytes of all answers together; those go first that were asked for least recently."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """An answer as it was: the headers that a reader needs, and the body."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def etag(self) -> str:
        """By which GitHub knows it."""
        return self.headers["etag"]


class Memory:
    """Answers by account and URL, up to `most` bytes. Thread safe."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._size = 0
        self._answers: OrderedDict[tuple[str, str], Remembered] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, account: str, url: str) -> Remembered | None:
        """The answer that was last kept."""
        with self._lock:
            if (found := self._answers.get((account, url))) is not None:
                self._answers.move_to_end((account, url))
            return found

    def put(self, account: str, url: str, answer: Remembered) -> None:
        """Keep an answer in place of the one before."""
        with self._lock:
            if (before := self._answers.pop((account, url), None)) is not None:
                self._size -= len(before.body)
            self._answers[account, url] = answer
            self._size += len(answer.body)
            while self._size > self._most:
                self._size -= len(self._answers.popitem(last=False)[1].body)
