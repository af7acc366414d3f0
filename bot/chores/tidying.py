"""What has had its time goes, also where nobody comes by who would sweep it away with something new."""

from __future__ import annotations

import logging

from bot.commands import LIMIT_SECONDS
from bot.services import Services
from bot.store.database.sqlite import empty_log
from bot.store.parts.decisions import KEPT_DAYS

logger = logging.getLogger(__name__)

TIDY_EVERY = 1800.0
"""Seconds. What is deleted is gone from the disk within the hour."""

ERASE_EVERY = 86_400.0
"""Seconds. All decisions are looked through for the old ones, while nobody else can write on SQLite."""


def tidy(services: Services) -> None:
    """Drop what counts no longer, and let SQLite's log keep nothing of what was deleted since the last time."""
    store = services.store
    store.usage.prune(services.now() - LIMIT_SECONDS)
    store.sessions.prune(services.now())
    empty_log(store.engine)


def erase_old(services: Services) -> None:
    """Erase the decisions, and what people and the judge said of them, that are older than is kept."""
    now = services.now()
    erased = services.store.decisions.prune(now)
    erased += services.store.signals.prune(now - KEPT_DAYS * 86_400.0)
    erased += services.store.judgements.prune(now)
    if erased:
        logger.info("decisions and signals that were old enough to be erased: %d", erased)
