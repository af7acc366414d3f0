"""What DBOS says of itself, made fit for the log: without the texts of exceptions, and not a hundred lines a second.

It writes exceptions into its messages, and those quote a statement with what it was given, of which the words of a
comment may be; and while the database is away each of its threads says so several times a second. So would those of
ours that ask again and again, whose lines are marked (`OFTEN`).
"""

from __future__ import annotations

import copy
import logging
import re
import threading
import time
from collections.abc import Callable

EVERY = 60.0
"""Seconds in which one thing is said once."""

OFTEN = {"often": True}
"""For the `extra` of a line of ours that may be said many times over."""

_NAME = "dbos"
# Where the text of an exception begins, after what DBOS says of its own; and its kind, as SQLAlchemy puts it first.
_TEXT = re.compile(r"\s*:\s(?:\((?P<kind>[\w.]{1,80})\)|)", re.ASCII)
# What it says holds names of queues and of its own parts; so many different ones are not expected, and not kept.
_MOST = 200


class Quoted:
    """Decides which of the lines that come often are written, and how DBOS's are. Safe to share between threads.

    `clock` counts seconds and never jumps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._said: dict[str, tuple[float, int]] = {}

    def fit(self, record: logging.LogRecord) -> logging.LogRecord | None:
        """The record as it may be written, another one where something had to go; None if it was said just now."""
        others = record.name.partition(".")[0] == _NAME
        if not others and not getattr(record, "often", False):
            return record
        message = brief(record.getMessage()) if others else record.getMessage()
        now = self._clock()
        with self._lock:
            since, unsaid = self._said.get(message, (now - EVERY, 0))
            if now - since < EVERY:
                self._said[message] = (since, unsaid + 1)
                return None
            if len(self._said) >= _MOST:
                self._said.clear()
            self._said[message] = (now, 0)
        made = copy.copy(record)
        made.msg, made.args = f"{message} (and {unsaid} times since it was last said)" if unsaid else message, ()
        return made


def brief(message: str) -> str:
    """What stands before the first colon, with the kind of the exception where one is named. Pure."""
    found = _TEXT.search(message)
    if found is None:
        return message
    kind = found["kind"]
    return f"{message[: found.start()]}: {kind}" if kind else message[: found.start()]
