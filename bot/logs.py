"""What a process writes to stderr: one line an event, nothing private, no secrets."""

from __future__ import annotations

import logging

# These tell of each request at INFO, with addresses; what matters of it is logged where it matters.
_CHATTY = ("httpx", "httpcore", "githubkit", "urllib3", "alembic", "dbos", "werkzeug")


def configure_logging(level: str) -> None:
    """Set up logging for a process of our own; `level` is a name such as INFO."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level)))
