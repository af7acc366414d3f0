"""What is still to be done in this run: the queue of a process that is all there is."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from bot.deliveries.events import BACKGROUND, Event, InstallationEvent


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of work, and the seconds to wait before it."""

    event: Event
    delay: float


class Pending:
    """Work in the order in which it came, each piece once; see `handlers.services.Queue`."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._events: deque[Step] = deque()
        self._background: deque[Step] = deque()

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool:
        """Note a piece of work; False where it is known."""
        if delivery_id in self._known:
            return False
        self._known.add(delivery_id)
        behind = event.partition.startswith(BACKGROUND)
        (self._background if behind else self._events).append(Step(event, delay_seconds))
        return True

    def erase(self, repository_id: int, before: float | None = None) -> None:
        """Drop what is to be done in a repository."""
        for steps in (self._events, self._background):
            kept = [one for one in steps if not _is_of(one.event, repository_id)]
            steps.clear()
            steps.extend(kept)

    def close(self) -> None:
        """There is nothing to be closed."""

    def take(self, *, background: bool) -> Step | None:
        """The next piece; what nobody waits for only in the `background`, after all else."""
        if self._events:
            return self._events.popleft()
        return self._background.popleft() if background and self._background else None


def _is_of(event: Event, repository_id: int) -> bool:
    return not isinstance(event, InstallationEvent) and event.repository.id == repository_id
