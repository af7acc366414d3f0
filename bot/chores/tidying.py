"""What has had its time goes, also where nobody comes by who would sweep it away with something new."""

from __future__ import annotations

from bot.commands import LIMIT_SECONDS
from bot.github.pacing import SHARED
from bot.services import Services
from bot.store.budgets import Budgets
from bot.store.engine import empty_log

TIDY_EVERY = 1800.0
"""Seconds. What is deleted is gone from the disk within the hour."""


def tidy(services: Services) -> None:
    """Drop what counts no longer, and let SQLite's log keep nothing of what was deleted since the last time."""
    store = services.store
    store.usage.prune(services.now() - LIMIT_SECONDS)
    store.etags.prune()
    Budgets(store.engine, SHARED).prune()
    empty_log(store.engine)
