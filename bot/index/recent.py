"""What was read of single issues lately, for as long as it is known to be current.

Finds of one repository compare the same issues over and over. Whoever changes some of them in this process says which;
a change of another process is noticed by the repository's version, and makes everything be read anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, TypeVar

from bot.index.state import Version

T = TypeVar("T")


class Recent(Generic[T]):
    """By number. What has been kept longest goes first. Safe to share between threads."""

    def __init__(self, most_bytes: int, bytes_of: Callable[[T], int]) -> None:
        self._most, self._bytes_of = most_bytes, bytes_of
        self._lock = threading.Lock()
        self._version: Version | None = None
        self._kept: dict[int, T] = {}
        self.size = 0

    def get(self, version: Version, numbers: Iterable[int]) -> dict[int, T]:
        """Those of the issues that are known as they are in this version of the repository."""
        with self._lock:
            if version != self._version:
                return {}
            kept = self._kept
            return {number: kept[number] for number in numbers if number in kept}

    def keep(self, version: Version, found: Mapping[int, T]) -> None:
        """Remember what was read after the repository was seen to be of this version.

        It may be newer than that, since what has changed meanwhile is dropped as soon as the change is known.
        """
        with self._lock:
            if version != self._version:
                # Whoever still reads an older version makes the others begin anew; nobody is told what is outdated.
                self._version, self.size = version, 0
                self._kept.clear()
            for number in self._kept.keys() & found.keys():
                self._drop(number)
            self._kept.update(found)
            self.size += sum(map(self._bytes_of, found.values()))
            while self.size > self._most and self._kept:
                self._drop(next(iter(self._kept)))

    def follow(self, before: Version, after: Version, numbers: Collection[int]) -> None:
        """This process has changed these issues, and made one version of another; all other issues are as they were."""
        with self._lock:
            if self._version == before:
                self._version = after
                for number in numbers:
                    self._drop(number)

    def _drop(self, number: int) -> None:
        one = self._kept.pop(number, None)
        if one is not None:
            self.size -= self._bytes_of(one)
