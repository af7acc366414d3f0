"""What a process writes to stderr: one line an event, nothing private, no secrets.

As text for people, or as one JSON object a line for programs (`DOPPEL_LOG_FORMAT`). Each line says which delivery and
job it belongs to. Texts of exceptions are left out, whoever logs them: they can quote an issue, a query or a key. Of
other libraries only warnings are written, since at lower levels they tell of requests, with addresses and parameters.

While the database is away several threads would say so every second: such lines are marked (`OFTEN`) and written once
a minute.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

from bot.telemetry.errors import frames
from bot.telemetry.work import Work, current

log = logging.getLogger(__name__)

# The loggers of this program; gunicorn's tell that the web process starts and ends.
_OURS = ("bot", "handlers", "gunicorn")

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

EVERY = 60.0
"""Seconds in which one thing is said once."""

OFTEN = {"often": True}
"""For the `extra` of a line of ours that may be said many times over."""

# So many different lines are not expected, and not kept.
_MOST = 200


def configure_logging(level: str, style: str = "text") -> None:
    """Set up logging for a process of our own; `level` is a name such as INFO, `style` is `text` or `json`."""
    handler = _Handler()
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
    threading.excepthook = _thread_ended


def said(text: str, style: str) -> str:
    """What a command says to people, whatever the level, in the form of the log lines that it stands among."""
    if style != "json":
        return text
    return JsonFormatter().format(logging.LogRecord(_OURS[0], logging.INFO, "", 0, text, (), None))


class Quoted:
    """Decides which of the lines that come often are written. Safe to share between threads.

    `clock` counts seconds and never jumps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._said: dict[str, tuple[float, int]] = {}

    def fit(self, record: logging.LogRecord) -> logging.LogRecord | None:
        """The record as it may be written, another one where something had to go; None if it was said just now."""
        if not getattr(record, "often", False):
            return record
        message = record.getMessage()
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


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to stderr. Of a line that cannot be made it says where; Python would print its arguments."""

    def __init__(self) -> None:
        super().__init__()
        self._quoted = Quoted()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, unless it was said just now."""
        try:
            fit = self._quoted.fit(record)
        except Exception:
            self.handleError(record)
            return
        if fit is not None:
            super().emit(fit)

    def handleError(self, record: logging.LogRecord) -> None:
        """Called while the error is handled."""
        place = f"{record.filename}:{record.lineno}"
        message = f"the line of {place} cannot be written: {type(sys.exception()).__name__}"
        instead = logging.LogRecord(record.name, logging.ERROR, record.pathname, record.lineno, message, (), None)
        with contextlib.suppress(Exception):
            self.stream.write(self.format(instead) + self.terminator)
            self.flush()


class _Formatter(logging.Formatter):
    """What both forms have in common."""

    def formatException(self, ei: _ExcInfo) -> str:
        """The kinds of the exceptions and where they came from, the first cause last; their texts are left out."""
        lines = []
        error, seen = ei[1], set[int]()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            lines.append(f"{type(error).__module__}.{type(error).__qualname__}")
            lines += frames(error)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n".join(lines)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """In UTC, to the millisecond, as RFC 3339 writes it."""
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TextFormatter(_Formatter):
    """A line for people: time, level, logger, message, and at its end what it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        """What a message holds cannot look like another line: its further lines are indented."""
        text = _plain(record.getMessage())
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        first, _, rest = text.partition("\n")
        work = " ".join(f"{name}={value}" for name, value in _fields(current()).items())
        first = f"{self.formatTime(record)} {record.levelname} {record.name}: {first}{f' [{work}]' if work else ''}"
        return "\n    ".join([first, *(rest.split("\n") if rest else ())])


class JsonFormatter(_Formatter):
    """One JSON object a line: `time`, `level`, `logger`, `message`, `process`, and what of these there is: `delivery`,
    `job`, `attempt`, `exception`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """In ASCII, so that nothing in a message ends a line for any reader."""
        line: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **_fields(current()),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _thread_ended(what: threading.ExceptHookArgs) -> None:
    """Python's own way would print the exception's text."""
    if what.exc_value is not None and not issubclass(what.exc_type, SystemExit):
        error = (what.exc_type, what.exc_value, what.exc_traceback)
        log.error("a thread has ended with an error", exc_info=error)


def _fields(work: Work) -> Mapping[str, str | int]:
    """What is known of the work."""
    fields: dict[str, str | int] = {"delivery": work.delivery, "job": work.job, "attempt": work.attempt}
    return {name: value for name, value in fields.items() if value}


def _plain(text: str) -> str:
    """The text without control characters, which terminals obey; line ends stay."""
    return "".join(one if one == "\n" or one.isprintable() else repr(one)[1:-1] for one in text)
