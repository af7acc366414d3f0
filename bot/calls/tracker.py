"""What was asked lately, session by session, with its answer."""

from __future__ import annotations

import copy
import inspect
import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypedDict, TypeVar

from bot.calls.rules import RULES, Arguments, Rule, generic
from bot.errors import InvalidArgument

log = logging.getLogger(__name__)

R = TypeVar("R")

MAX_BYTES = 32 << 20
"""Of what all sessions of a process remember together."""


@dataclass(frozen=True, slots=True)
class Call(Generic[R]):
    """An answer. `cached` says that it is an earlier one, `at` at what time of day (the host's) it was fetched."""

    result: R
    cached: bool
    at: str

    @property
    def note(self) -> str:
        """What a reader of a cached answer is told (T2); empty for a new one."""
        return f"[Cached result from {self.at}]" if self.cached else ""


class Stats(TypedDict):
    """`total_sessions` and `total_calls` are what is remembered now; hits and misses count the questions so far."""

    total_sessions: int
    total_calls: int
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class _Record:
    tool: str
    arguments: Arguments
    result: Any
    moment: float
    size: int


class ToolCallTracker:
    """Remembers the calls of each session on its own (T1). Thread safe.

    A session holds the last `max_history_per_session` calls, each for `max_age_ms`; sessions never see each other's.
    All together hold about `max_bytes`, and the session that has been quiet for longest goes first: a page of long
    issues is megabytes, and whoever opens issues decides how often one is searched. `call` and `find` hand results out
    as they are, not copied: treat them as immutable; tools that are wrapped give copies. `clock` gives seconds since
    1970; where it is set back by more than `max_age_ms`, what was remembered before has no age, and expires.
    """

    def __init__(
        self,
        max_history_per_session: int = 50,
        max_age_ms: float = 300_000,
        *,
        enable_duplicate_detection: bool = True,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        most = max_history_per_session
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise InvalidArgument("max_history_per_session", f"must be a whole number from 0 on, not {most!r}")
        # Written so that NaN, which is neither, is refused too.
        if isinstance(max_age_ms, bool) or not isinstance(max_age_ms, (int, float)) or not max_age_ms >= 0:
            raise InvalidArgument("max_age_ms", f"must be a number from 0 on, not {max_age_ms!r}")
        self.max_history_per_session = max_history_per_session
        self.max_age_ms = max_age_ms
        self.enable_duplicate_detection = enable_duplicate_detection
        self.max_bytes = max_bytes
        self._clock = clock
        self._rules: dict[str, Rule] = dict(RULES)
        self._sessions: OrderedDict[str, deque[_Record]] = OrderedDict()
        self._hits = self._misses = self._size = 0
        self._lock = threading.Lock()

    def add_rule(self, tool: str, rule: Rule) -> None:
        """Say when two calls of `tool` are the same (T4); replaces the rule it had. One that raises says "not"."""
        with self._lock:
            self._rules[tool] = rule

    def call(
        self,
        session: str,
        tool: str,
        arguments: Arguments,
        run: Callable[[], R],
        *,
        fresh: bool = False,
        keep: Callable[[R], bool] | None = None,
    ) -> Call[R]:
        """The earlier answer to the same question, or the one that `run` gives now.

        `fresh` asks anew in any case, and remembers the new answer. What raises is never remembered, nor what `keep`
        (by default: everything that does not report its own failure) declines.
        """
        if not fresh and (known := self.find(session, tool, arguments)):
            return known
        asked = _copied(dict(arguments))
        result = run()
        # What cannot be copied may change before the next call, so it cannot be compared with that.
        if asked is not None and (keep or _succeeded)(result):
            self.remember(session, tool, asked, result)
        return Call(result, cached=False, at=_time_of_day(self._clock()))

    def find(self, session: str, tool: str, arguments: Arguments) -> Call[Any] | None:
        """The latest answer to the same question in this session, None if there is none that is still good."""
        if not self.enable_duplicate_detection:
            return None
        with self._lock:
            rule = self._rules.get(tool, generic)
            now = self._clock()
            for record in reversed(self._sessions.get(session, ())):
                if record.tool == tool and self._is_good(record, now) and _alike(rule, record, arguments):
                    self._hits += 1
                    return Call(record.result, cached=True, at=_time_of_day(record.moment))
            self._misses += 1
            return None

    def remember(self, session: str, tool: str, arguments: Arguments, result: Any) -> None:
        """Keep an answer. In a full session the oldest call makes room; a session leaves when all in it is too old.

        What can be read only once is not kept: the first reader leaves nothing of it for the next.
        """
        if not self.enable_duplicate_detection or self.max_history_per_session == 0 or _is_read_once(result):
            return
        size = _size_of(arguments) + _size_of(result)
        with self._lock:
            now = self._clock()
            calls = self._sessions.setdefault(session, deque())
            calls.append(_Record(tool, arguments, result, now, size))
            self._size += size
            if len(calls) > self.max_history_per_session:
                self._size -= calls.popleft().size
            self._sessions.move_to_end(session)
            self._expire(now)
            while self._size > self.max_bytes:
                self._drop(next(iter(self._sessions)))

    def wrap(self, tool: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` as a tool of sessions: call it as `wrapped(session, **arguments)`.

        A repeated call gives the earlier result with `cached: true` and the note added (T2); a result that is no
        mapping is put under `result`. What a caller does to a result is not in the next one. Of a coroutine function
        the answer is awaited.
        """

        def keep(session: str, asked: Arguments | None, result: Any) -> None:
            if asked is not None and _succeeded(result):
                kept = _copied(result)
                self.remember(session, tool, asked, result if kept is None else kept)

        def wrapped(session: str, /, **arguments: Any) -> Any:
            if known := self.find(session, tool, arguments):
                return _told(known)
            asked = _copied(arguments)
            result = function(**arguments)
            keep(session, asked, result)
            return result

        async def awaited(session: str, /, **arguments: Any) -> Any:
            if known := self.find(session, tool, arguments):
                return _told(known)
            asked = _copied(arguments)
            result = await function(**arguments)
            keep(session, asked, result)
            return result

        return awaited if inspect.iscoroutinefunction(function) else wrapped

    def clear_session(self, session: str) -> None:
        """Forget one session."""
        with self._lock:
            self._drop(session)

    def clear_all(self) -> None:
        """Forget everything, and count from nought."""
        with self._lock:
            self._sessions.clear()
            self._hits = self._misses = self._size = 0

    def get_stats(self) -> Stats:
        """See Stats."""
        with self._lock:
            self._expire(self._clock())
            return Stats(
                total_sessions=len(self._sessions),
                total_calls=sum(map(len, self._sessions.values())),
                hits=self._hits,
                misses=self._misses,
            )

    def _expire(self, now: float) -> None:
        """Drop what is too old. Sessions are in the order of their latest call, calls in theirs."""
        for session in list(self._sessions):
            calls = self._sessions[session]
            while calls and not self._is_good(calls[0], now):
                self._size -= calls.popleft().size
            if not calls:
                del self._sessions[session]

    def _is_good(self, record: _Record, now: float) -> bool:
        """Whether it is young enough. Without the upper bound a clock that is set back would make it so for ever."""
        longest = self.max_age_ms / 1000
        return now - longest <= record.moment <= now + longest

    def _drop(self, session: str) -> None:
        self._size -= sum(record.size for record in self._sessions.pop(session, ()))


def _size_of(value: object) -> int:
    """Bytes of a value with all that is in it, about: it is written out. What cannot be counts as too much."""
    try:
        return len(repr(value))
    except Exception:
        return MAX_BYTES


def _succeeded(result: object) -> bool:
    """Whether a tool's result is no report of a failure. `is_error` and `isError` are what agents' protocols say."""
    if not isinstance(result, Mapping):
        return not any(getattr(result, name, False) is True for name in ("is_error", "isError"))
    return result.get("success") is not False and not any(result.get(name) for name in ("error", "is_error", "isError"))


def _is_read_once(result: object) -> bool:
    """Whether it is a generator, an open file or a coroutine, say."""
    return isinstance(result, Iterator | AsyncIterator) or inspect.isawaitable(result)


def _alike(rule: Rule, record: _Record, arguments: Arguments) -> bool:
    try:
        return rule(record.arguments, arguments)
    except Exception:
        # The call can always be made, and what is wrong with the rule is no fault of the caller's.
        log.warning("the rule of %s failed; the call is made anew", record.tool, exc_info=True)
        return False


def _copied(value: R) -> R | None:
    """A copy that shares nothing with `value`, None where there can be none."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return None


def _told(known: Call[Any]) -> Any:
    """T2: an earlier result as its caller sees it."""
    kept = _copied(known.result)
    result = known.result if kept is None else kept
    return {**(result if isinstance(result, Mapping) else {"result": result}), "cached": True, "note": known.note}


def _time_of_day(moment: float) -> str:
    """`10:23:45 AM`, in the host's time zone and whatever its locale."""
    local = datetime.fromtimestamp(moment).astimezone()
    return f"{local.hour % 12 or 12}:{local:%M:%S} {'AM' if local.hour < 12 else 'PM'}"


_tracker: ToolCallTracker | None = None
_tracker_lock = threading.Lock()


def get_tool_call_tracker() -> ToolCallTracker:
    """The tracker that the tools of this process share, made on first use."""
    global _tracker
    with _tracker_lock:
        if _tracker is None:
            _tracker = ToolCallTracker()
        return _tracker


def set_tool_call_tracker(tracker: ToolCallTracker | None) -> None:
    """Use another one; None makes a new one on next use."""
    global _tracker
    with _tracker_lock:
        _tracker = tracker
