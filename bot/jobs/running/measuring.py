"""Counting what becomes of jobs, and saying for log and trace which job is worked on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from bot.jobs.queue.job import Message
from bot.telemetry.metrics import JOBS
from bot.telemetry.tracing import span
from bot.telemetry.work import Work, working_on

S = TypeVar("S")

# What a run returns, in the words of the metric.
_WORDS = {"stepped aside": "waited"}


def measured(work: Callable[[S, Message], str]) -> Callable[[S, Message], str]:
    """For the method that does one run of a job: what it returns says what became of it; if it raises, it is dead."""

    @wraps(work)
    def run(worker: S, message: Message) -> str:
        here = Work(message.delivery_id, attempt=message.failures + 1, arrived=message.arrived / 1000)
        with working_on(here), span("job", message.delivery_id, attempt=here.attempt) as traced:
            try:
                outcome = work(worker, message)
            except Exception:
                JOBS.labels("dead").inc()
                raise
            word = _WORDS.get(outcome, outcome)
            JOBS.labels(word).inc()
            traced.set_attribute("outcome", word)
            return outcome

    return run
