"""A piece of work as handlers see it, and as it travels through the queue."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.errors import Retryable
from bot.events import Event

# Between a delivery's id and the number of its run in a workflow id; no delivery id contains it.
_RUN = "~"


class QueueUnavailable(Retryable):
    """The queue's database did not answer within its bound; nothing has been accepted."""


@dataclass(frozen=True, slots=True)
class Job:
    """One delivery to be worked on. `attempt` counts from 1, and one more for each time the handler raised.

    The first attempt can be a second one all the same: what a killed worker was at is begun again without a count.
    `arrived` is when the delivery was accepted, in seconds since 1970.
    """

    delivery_id: str
    event: Event
    attempt: int
    arrived: float


@dataclass(frozen=True, slots=True)
class Message:
    """A delivery in the queue.

    Every run is a workflow of its own: the first bears the delivery's id, which makes a redelivery a no-op. `run` also
    counts the times that a job only stepped aside for an older one, `failures` does not. `arrived` is when the
    delivery was accepted, in milliseconds since 1970: jobs of one partition are taken in this order. `text` is the
    event as JSON. `lane` is where it waits (`bot.jobs.fairness.lanes`).
    """

    delivery_id: str
    run: int
    failures: int
    arrived: int
    partition: str
    text: str
    lane: str

    @property
    def workflow_id(self) -> str:
        """The id of this run."""
        return self.delivery_id if self.run == 1 else f"{self.delivery_id}{_RUN}{self.run}"

    def again(self, failures: int) -> Message:
        """The same delivery's next run."""
        return replace(self, run=self.run + 1, failures=failures)


# What every later run's id looks like, for SQL's LIKE.
LATER_RUN = f"%{_RUN}%"
