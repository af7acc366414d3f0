"""The log that a process writes to stderr: one line for each event, with nothing private and no secrets.

Lines are text for people, or JSON for programs (`DOPPEL_LOG_FORMAT`), and name their delivery and job. Tracebacks leave
out the exceptions' texts, which can quote an issue, a query or a key. Libraries log only warnings, since at lower
levels they show requests with addresses and parameters.

Lines marked `OFTEN` appear once a minute at most: while the database is away, several threads log one each second.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

from bot.domain.errors import DidNotEnd, GitHubError, Retryable
from bot.platform.tracing import current

log = logging.getLogger(__name__)

# The loggers of this program. gunicorn's logger shows when the web process starts and ends.
_OURS = ("bot", "handlers", "gunicorn")

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

EVERY = 60.0
"""A line marked `OFTEN` appears at most once in this many seconds."""

OFTEN = {"often": True}
"""The `extra` of a log line that may repeat often."""

# How many different lines to remember.
_MOST_LINES = 200


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to stderr. For a line that cannot be formatted, writes its origin; Python would print its arguments."""

    def handleError(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            self.stream.write(f"a line of {record.name} could not be written: {record.filename}:{record.lineno}\n")


def configure_logging(level: str, style: str = "text") -> None:
    """Set up logging for a process; `level` is a name such as INFO, `style` is `text` or `json`."""
    handler = _Handler()
    handler.addFilter(RepeatFilter())
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
    threading.excepthook = _thread_ended


def as_log_line(text: str, style: str) -> str:
    """A command's message to people, in the form of the log lines around it."""
    if style != "json":
        return text
    return JsonFormatter().format(logging.LogRecord(_OURS[0], logging.INFO, "", 0, text, (), None))


class RepeatFilter(logging.Filter):
    """Drops a line marked `OFTEN` that was written less than a minute ago. `clock` counts seconds and never jumps."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._written: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not getattr(record, "often", False):
            return True
        message, now = record.getMessage(), self._clock()
        if (written_at := self._written.get(message)) is not None and now - written_at < EVERY:
            return False
        if len(self._written) >= _MOST_LINES:
            self._written.clear()
        self._written[message] = now
        return True


class _Formatter(logging.Formatter):
    def formatException(self, ei: _ExcInfo) -> str:
        """The types and tracebacks of an exception and its causes, without their texts. The root cause comes last."""
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
    """A line for people: time, level, logger, message, and at the end delivery and job."""

    def format(self, record: logging.LogRecord) -> str:
        """Further lines of a message are indented, so that they cannot look like log lines."""
        # Escape control characters, because terminals obey them.
        text = "".join(char if char == "\n" or char.isprintable() else repr(char)[1:-1] for char in record.getMessage())
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        first, _, rest = text.partition("\n")
        work = " ".join(f"{name}={value}" for name, value in _fields().items())
        first = f"{self.formatTime(record)} {record.levelname} {record.name}: {first}" + (f" [{work}]" if work else "")
        return "\n    ".join([first, *(rest.split("\n") if rest else ())])


class JsonFormatter(_Formatter):
    """One JSON object per line, with `time`, `level`, `logger`, `message` and `process`. Each of `delivery`, `job`,
    `attempt` and `exception` is there only if it is known.
    """

    def format(self, record: logging.LogRecord) -> str:
        """In ASCII, so that no character of a message ends a line."""
        line: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **_fields(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _thread_ended(args: threading.ExceptHookArgs) -> None:
    # Python's own hook would print the exception's text.
    if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
        error = (args.exc_type, args.exc_value, args.exc_traceback)
        log.error("a thread has ended with an error", exc_info=error)


def _fields() -> Mapping[str, str | int]:
    work = current()
    fields: dict[str, str | int] = {"delivery": work.delivery, "job": work.job, "attempt": work.attempt}
    return {name: value for name, value in fields.items() if value}


def frames(error: BaseException) -> list[str]:
    """The frames of the traceback, one line each, the outermost first."""
    return [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]


def describe(error: BaseException) -> str:
    """Type and safe text: operation and status (GitHubError), message (Retryable, DidNotEnd), or origin and cause."""
    if isinstance(error, GitHubError):
        # The message can quote GitHub's answer; the operation and the status are safe.
        return f"{type(error).__name__}: {error.operation} ({error.status})"
    if isinstance(error, Retryable | DidNotEnd):
        return f"{type(error).__name__}: {error}"
    places = [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in traceback.extract_tb(error.__traceback__)]
    origin = f" at {places[-1]}" if places else ""
    cause = f" from {describe(error.__cause__)}" if error.__cause__ else ""
    return f"{type(error).__name__}{origin}{cause}"


def stack(error: BaseException) -> str:
    """The traceback, one line per frame, and last the line from `describe`."""
    return "\n".join([*frames(error), f"  {describe(error)}"])
