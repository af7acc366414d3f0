"""The durable queue between the webhook and the handlers: one table, one claim, leases."""

from bot.jobs.database import QueueUnavailable, ensure_schema
from bot.jobs.inbox import Inbox, debounce
from bot.jobs.inspection import DeadLetter, DeadLetters
from bot.jobs.schedule import Chore
from bot.jobs.worker import Job, Worker

__all__ = [
    "Chore",
    "DeadLetter",
    "DeadLetters",
    "Inbox",
    "Job",
    "QueueUnavailable",
    "Worker",
    "debounce",
    "ensure_schema",
]
