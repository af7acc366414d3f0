"""Scheduled tasks that delete expired rows."""

from __future__ import annotations

import logging

from bot.conversation.commands.table import LIMIT_SECONDS
from bot.storage.decisions import KEPT_DAYS
from bot.storage.sqlite import empty_log
from handlers.services import Services

logger = logging.getLogger(__name__)

TIDY_EVERY = 1800.0
"""Seconds between runs of `tidy`. Deleted text leaves the disk within an hour, even if one run finds the log in use."""

ERASE_EVERY = 86_400.0
"""Seconds between runs of `erase_old`. A run scans all decisions, and on SQLite nobody else can write meanwhile."""


def tidy(services: Services) -> None:
    """Delete expired sessions and old rows of `usage`, and empty SQLite's log, which keeps deleted text."""
    store = services.store
    store.usage.prune(services.now() - LIMIT_SECONDS)
    store.sessions.prune(services.now())
    empty_log(store.engine)


def erase_old(services: Services) -> None:
    """Erase old signals, judgements and judge calls, and decisions that are old or exceed a repository's limit."""
    now = services.now()
    erased = services.store.decisions.prune(now)
    erased += services.store.signals.prune(now - KEPT_DAYS * 86_400.0)
    erased += services.store.judgements.prune(now)
    if erased:
        logger.info("old or excess decisions, signals, judgements and judge calls erased: %d", erased)
