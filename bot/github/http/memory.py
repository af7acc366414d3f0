"""What is remembered of GitHub's answers, and where (T6): the words that the client and the store share.

Nothing of the client is imported here, so that a process that never asks GitHub does not load it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from bot.model import RepoRef


@dataclass(frozen=True, slots=True)
class Remembered:
    """An answer as it was: the headers that a reader needs, and the body."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def etag(self) -> str:
        """By which GitHub knows it."""
        return self.headers["etag"]


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: for which account, about which repository, and which issue of it (0 if none)."""

    account: str
    repo: RepoRef
    number: int
    url: str


class Memory(Protocol):
    """Where answers are kept. Neither method raises: a memory that fails is one that remembers nothing."""

    def get(self, question: Question) -> Remembered | None:
        """The answer that was last kept."""

    def put(self, question: Question, answer: Remembered) -> None:
        """Keep an answer in place of the one before."""
