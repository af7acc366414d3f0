"""What follows a run that did not do its delivery: another one after a wait, or none (`retry` decides).

What waits is a new workflow, so that it occupies no thread.
"""

from __future__ import annotations

import logging
import random

import sqlalchemy as sa
from dbos import DBOSClient

from bot.counted import counted
from bot.jobs.queue.database import end_as_dead
from bot.jobs.queue.enqueue import enqueue
from bot.jobs.queue.job import Message
from bot.jobs.queue.steadily import steadily
from bot.jobs.running.given_up import GivenUp
from bot.jobs.running.retry import Again, Dead, Refused, decide, describe, stack
from bot.telemetry.metrics import JOBS

log = logging.getLogger(__name__)


class NextRun:
    """Puts it into the queue. Thread safe."""

    def __init__(self, engine: sa.Engine, client: DBOSClient) -> None:
        self._engine = engine
        self._client = client

    def after_stepping_aside(self, message: Message, wait: float) -> str:
        """An older job of the partition goes first. Returns what became of this run, as all of these do."""
        self._enqueue(message.again(message.failures), wait)
        return "stepped aside"

    def after_error(self, message: Message, error: Exception) -> str:
        """The handler raised. Raises GivenUp where that was the last try."""
        failures = message.failures + 1
        match _decide(error, failures):
            case Refused():
                log.info("delivery %s refused: %s", message.delivery_id, type(error).__name__)
                return "refused"
            case Again(wait):
                log.warning(
                    "delivery %s failed, attempt %d, again in %.0f s\n%s",
                    message.delivery_id,
                    failures,
                    wait,
                    stack(error),
                )
                self._enqueue(message.again(failures), wait)
                return "failed"
            case Dead():
                tries = counted(failures, "attempt")
                log.error("delivery %s given up after %s\n%s", message.delivery_id, tries, stack(error))
                # Without the chain, which DBOS would log with the texts of all its exceptions.
                raise GivenUp(describe(error)) from None

    def after_hanging(self, message: Message, reason: str) -> str:
        """The run does not end. It is ended from outside, since it can neither return nor raise."""
        failures = message.failures + 1
        match _decide(GivenUp(reason), failures):
            case Again(wait):
                later = message.again(failures)
                enqueue(self._client, self._engine, later, wait, instead_of=message.workflow_id)
                outcome = "failed"
            case _:
                end_as_dead(self._client, message.workflow_id, GivenUp(reason))
                outcome = "dead"
        # Nobody else counts what did not end by itself (`measuring`).
        JOBS.labels(outcome).inc()
        return outcome

    def _enqueue(self, message: Message, wait: float) -> None:
        steadily(lambda: enqueue(self._client, self._engine, message, wait))


def _decide(error: Exception, failures: int) -> Again | Dead | Refused:
    # The chance only spreads the load.
    return decide(error, failures, random.random())  # noqa: S311
