"""The durable queue between the webhook and the handlers: DBOS behind a narrow interface."""

from bot.jobs.inbox import Inbox, debounce
from bot.jobs.inspection.dead_letters import DeadLetter, DeadLetters
from bot.jobs.queue.chores import Chore
from bot.jobs.queue.database import ensure_schema
from bot.jobs.queue.job import Job, QueueUnavailable
from bot.jobs.worker import Worker

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
