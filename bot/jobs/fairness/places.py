"""The places of a worker, each for one job at work, given so that nobody's jobs keep everybody else's waiting.

A job can hold its place for seconds, while it waits for a limit of GitHub's that concerns its own installation alone.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple


class Waiting(NamedTuple):
    """A job that waits for a place; `ticket` counts in order of arrival."""

    ticket: int
    owner: str


def next_job(waiting: Sequence[Waiting], held: Mapping[str, int], each: int) -> Waiting | None:
    """Whose turn it is: of the owners with the fewest places whoever came first; None if nobody may begin.

    There are `each` places and one more. One owner has at most `each`, so that a second one need not wait for it.
    """
    if sum(held.values()) > each:
        return None
    eligible = [one for one in waiting if held.get(one.owner, 0) < each]
    return min(eligible, key=lambda one: (held.get(one.owner, 0), one.ticket), default=None)


class Places:
    """As many jobs at once as `each` says, and one more where they are not all of one owner. Thread safe."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._changed = threading.Condition()
        self._waiting: list[Waiting] = []
        self._held: Counter[str] = Counter()
        self._tickets = 0
        self._closed = False

    @contextmanager
    def one_for(self, owner: str) -> Iterator[None]:
        """Wait for a place and hold it. After `close` nobody waits."""
        with self._changed:
            self._tickets += 1
            mine = Waiting(self._tickets, owner)
            self._waiting.append(mine)
            self._changed.wait_for(lambda: self._closed or next_job(self._waiting, self._held, self._each) == mine)
            self._waiting.remove(mine)
            self._held[owner] += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._held[owner] -= 1
                self._held += Counter()
                self._changed.notify_all()

    def close(self) -> None:
        """Let everybody in: nothing more is begun, and who waits must be told."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
