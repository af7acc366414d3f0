"""The durable queue between the webhook and the handlers: DBOS behind a narrow interface."""

from bot.jobs.chores import Chore
from bot.jobs.database import ensure_schema
from bot.jobs.dead_letters import DeadLetter, DeadLetters
from bot.jobs.inbox import Inbox, debounce
from bot.jobs.job import Job, QueueUnavailable
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
