"""How a run ends whose delivery is given up: DBOS then keeps it as a dead letter."""

from __future__ import annotations

import logging

from bot.errors import DoppelError


class GivenUp(DoppelError):
    """Ends a workflow as a dead letter. Its message is kept and shown, so it holds no private text."""


class _NotGivenUp(logging.Filter):
    """Leaves out what DBOS says of a given-up job, since the worker has said it, and without private text."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], GivenUp))


def leave_out_given_up() -> None:
    """Keep DBOS from logging them, however often this is called."""
    logger = logging.getLogger("dbos")
    if not any(isinstance(one, _NotGivenUp) for one in logger.filters):
        logger.addFilter(_NotGivenUp())
