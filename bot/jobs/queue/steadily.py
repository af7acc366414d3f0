"""What a job asks of the queue's database while that may be away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from bot.store.database.failures import why
from bot.telemetry.logs import OFTEN

log = logging.getLogger(__name__)

Value = TypeVar("Value")
AGAIN_AFTER = 1.0
"""Seconds."""


def steadily(ask: Callable[[], Value]) -> Value:
    """Ask until the database answers. An error here would end the job as a dead letter, although nothing is wrong with
    it, or without its next try in the queue.
    """
    while True:
        try:
            return ask()
        except sa.exc.SQLAlchemyError as error:
            # Without the delivery's id: each job that runs asks, every second, for as long as the outage lasts.
            log.warning("the queue is unavailable, and asked again: %s", why(error), extra=OFTEN)
            time.sleep(AGAIN_AFTER)
