"""Caches results of calls for some minutes in each session (T1–T7). Agents' tools and `bot.github` use the cache."""

from __future__ import annotations

import copy
import inspect
import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypedDict, TypeVar, cast

from bot.domain.errors import InvalidArgument
from bot.platform.call_rules import RULES, Arguments, Rule, ToolRule, generic

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
RC = TypeVar("RC", covariant=True)

MAX_BYTES = 32 << 20
"""The default limit for all cached results of a tracker, in bytes."""


@dataclass(frozen=True, slots=True)
class CachedResult(Generic[R]):
    """A tool's result. `cached`: an earlier call got the result. `at`: the host's time of day when the tool ran."""

    result: R
    cached: bool
    at: str

    @property
    def note(self) -> str:
        """The note beside a cached result (T2); empty for a new one."""
        return f"[Cached result from {self.at}]" if self.cached else ""


class Tracked(Protocol[P, RC]):
    """A wrapped tool. Calling it returns the tool's result; `call` returns a CachedResult."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> RC: ...
    def call(self, *args: P.args, **kwargs: P.kwargs) -> CachedResult[Any]: ...


class Stats(TypedDict):
    """`total_sessions` and `total_calls` count what is cached now; `hits` and `misses` count the lookups so far."""

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
    state: object = None


_GENERIC = ToolRule(generic)
# The key for results that all sessions share (`ToolRule.shared`). No caller's session has this name.
_ALL = "\0all"


class ToolCallTracker:
    """Caches each session's last `max_history_per_session` calls for `max_age_ms` (T1). Thread safe.

    All sessions together hold about `max_bytes`; the session whose last caching is longest ago is dropped first.
    `call` and `find` return results uncopied: treat them as immutable. Wrapped tools return copies. `clock` gives
    seconds since 1970. If somebody sets the clock back, records more than `max_age_ms` in the future expire.
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
        history = max_history_per_session
        if isinstance(history, bool) or not isinstance(history, int) or history < 0:
            raise InvalidArgument("max_history_per_session", f"must be a whole number from 0 on, not {history!r}")
        # Not written as `< 0`, so that NaN is refused too.
        if isinstance(max_age_ms, bool) or not isinstance(max_age_ms, (int, float)) or not max_age_ms >= 0:
            raise InvalidArgument("max_age_ms", f"must be a number from 0 on, not {max_age_ms!r}")
        self.max_history_per_session = max_history_per_session
        self.max_age_ms = max_age_ms
        self.enable_duplicate_detection = enable_duplicate_detection
        self.max_bytes = max_bytes
        self._clock = clock
        self._rules: dict[str, ToolRule] = {tool: ToolRule(rule) for tool, rule in RULES.items()}
        self._sessions: OrderedDict[str, deque[_Record]] = OrderedDict()
        self._hits = self._misses = 0
        self._size = 0
        self._lock = threading.Lock()

    def add_rule(self, tool: str, rule: Rule | ToolRule) -> None:
        """Set the rule of a tool (T4). If the rule raises, the tool runs anew."""
        with self._lock:
            self._rules[tool] = rule if isinstance(rule, ToolRule) else ToolRule(rule)

    def call(
        self,
        session: str,
        tool: str,
        arguments: Arguments,
        run: Callable[[], R],
        *,
        fresh: bool = False,
        keep: Callable[[R], bool] | None = None,
    ) -> CachedResult[R]:
        """The cached result of the same call, or the result of `run`.

        `fresh` always calls `run`, and caches its result. Errors are never cached. A result is cached only if
        `keep` accepts it. The default `keep` declines a result that reports its own failure.
        """
        if not fresh and (cached := self.find(session, tool, arguments)):
            return cached
        arguments_copy, state = self._snapshot(tool, arguments)
        result = run()
        if arguments_copy is not None and (keep or _succeeded)(result):
            self.remember(session, tool, arguments_copy, result, state)
        return CachedResult(result, cached=False, at=_time_of_day(self._clock()))

    def find(self, session: str, tool: str, arguments: Arguments) -> CachedResult[Any] | None:
        """The latest valid result of the same call in this session; None if there is none."""
        if not self.enable_duplicate_detection:
            return None
        with self._lock:
            rule = self._rule_of(tool)
            calls = list(self._sessions.get(_ALL if rule.shared else session, ()))
        now = self._clock()
        # Rules are foreign code and may be slow: call them without holding the lock.
        valid = (record for record in reversed(calls) if record.tool == tool and self._is_current(record, now))
        found = _latest(rule, tool, valid, arguments)
        with self._lock:
            self._hits += found is not None
            self._misses += found is None
        return None if found is None else CachedResult(found.result, cached=True, at=_time_of_day(found.moment))

    def remember(self, session: str, tool: str, arguments: Arguments, result: Any, state: object = None) -> None:
        """Cache a result if it can be read twice. `state` is what `ToolRule.unchanged` returned before the call."""
        if not self.enable_duplicate_detection or self.max_history_per_session == 0 or _is_read_once(result):
            return
        size = _size_of(arguments) + _size_of(result)
        with self._lock:
            now = self._clock()
            session = _ALL if self._rule_of(tool).shared else session
            calls = self._sessions.setdefault(session, deque())
            calls.append(_Record(tool, arguments, result, now, size, state))
            self._size += size
            if len(calls) > self.max_history_per_session:
                self._size -= calls.popleft().size
            self._sessions.move_to_end(session)
            self._expire(now)
            while self._size > self.max_bytes:
                self._drop(next(iter(self._sessions)))

    def wrap(self, function: Callable[P, R], *, session: str | Callable[[], str] = "", tool: str = "") -> Tracked[P, R]:
        """Wrap a function with the cache (T7). The wrapper keeps the function's name, signature and docstring.

        `session` is the session's name, or a function that returns the name at each call. `tool` names the tool
        whose rule applies; the default is the function's name. Results are copied, so a caller may change them. Raises
        TypeError for a coroutine function, whose result could not be kept.
        """
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__name__} is a coroutine function: wrap what it calls")
        name, signature = tool or getattr(function, "__name__", ""), inspect.signature(function)

        def call(*args: P.args, **kwargs: P.kwargs) -> CachedResult[R]:
            session_id = session if isinstance(session, str) else session()
            arguments = signature.bind(*args, **kwargs).arguments
            # Give each of the **kwargs to the rules as a separate argument.
            for parameter in signature.parameters.values():
                if parameter.kind is parameter.VAR_KEYWORD:
                    arguments.update(arguments.pop(parameter.name, {}))
            found = self.call(session_id, name, arguments, lambda: _copy_or_same(function(*args, **kwargs)))
            return replace(found, result=_copy_or_same(found.result))

        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            return call(*args, **kwargs).result

        made: Any = wrapped
        made.call = call
        return cast("Tracked[P, R]", made)

    def clear_session(self, session: str) -> None:
        with self._lock:
            self._drop(session)

    def clear_all(self) -> None:
        """Drop all results and reset the counts. The rules stay."""
        with self._lock:
            self._sessions.clear()
            self._hits = self._misses = self._size = 0

    def get_stats(self) -> Stats:
        with self._lock:
            self._expire(self._clock())
            return Stats(
                total_sessions=len(self._sessions),
                total_calls=sum(map(len, self._sessions.values())),
                hits=self._hits,
                misses=self._misses,
            )

    def _rule_of(self, tool: str) -> ToolRule:
        return self._rules.get(tool, _GENERIC)

    def _snapshot(self, tool: str, arguments: Arguments) -> tuple[Arguments | None, object]:
        """A copy of the arguments, or None if the result cannot be cached; and what the rule's `unchanged` returns."""
        # If the arguments cannot be copied, do not cache: they may change before the next call.
        arguments_copy = _copied(dict(arguments))
        try:
            with self._lock:
                rule = self._rule_of(tool)
            return arguments_copy, _state(rule, arguments)
        except Exception:
            return None, None

    def _expire(self, now: float) -> None:
        """Drop expired records. The records of a session are in the order of their calls."""
        for session in list(self._sessions):
            calls = self._sessions[session]
            while calls and not self._is_current(calls[0], now):
                self._size -= calls.popleft().size
            if not calls:
                del self._sessions[session]

    def _is_current(self, record: _Record, now: float) -> bool:
        """Whether a record has not expired. If the clock was set back, records more than `max_age_ms` ahead expire."""
        longest = self.max_age_ms / 1000
        return now - longest <= record.moment <= now + longest

    def _drop(self, session: str) -> None:
        self._size -= sum(record.size for record in self._sessions.pop(session, ()))


def _size_of(value: object) -> int:
    """The length of the value's `repr`, about its size in bytes; MAX_BYTES if `repr` fails."""
    try:
        return len(repr(value))
    except Exception:
        return MAX_BYTES


def _succeeded(result: object) -> bool:
    """Whether a result reports no failure. `is_error` and `isError` are fields of agents' protocols."""
    if not isinstance(result, Mapping):
        return not any(getattr(result, name, False) is True for name in ("is_error", "isError"))
    return result.get("success") is not False and not any(result.get(name) for name in ("error", "is_error", "isError"))


def _is_read_once(result: object) -> bool:
    """Whether a caller can read this result only once: a generator, an open file, a coroutine."""
    return isinstance(result, Iterator | AsyncIterator) or inspect.isawaitable(result)


def _latest(rule: ToolRule, tool: str, records: Iterator[_Record], arguments: Arguments) -> _Record | None:
    try:
        same = [record for record in records if rule.same(arguments, record.arguments)]
        state = _state(rule, arguments) if same else None
        return next((record for record in same if record.state == state), None)
    except Exception:
        # A faulty rule must not break the caller: the call can always be made anew.
        log.warning("the rule of %s failed; the call is made anew", tool, exc_info=True)
        return None


def _copied(value: R) -> R | None:
    """A deep copy; None if the value cannot be copied."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return None


def _copy_or_same(value: R) -> R:
    kept = _copied(value)
    return value if kept is None else kept


def _state(rule: ToolRule, arguments: Arguments) -> object:
    return rule.unchanged(arguments) if rule.unchanged else None


def _time_of_day(moment: float) -> str:
    """`10:23:45 AM`, in the host's time zone, independent of its locale."""
    local = datetime.fromtimestamp(moment).astimezone()
    return f"{local.hour % 12 or 12}:{local:%M:%S} {'AM' if local.hour < 12 else 'PM'}"


_tracker: ToolCallTracker | None = None


def get_tool_call_tracker() -> ToolCallTracker:
    """The tracker that the tools of this process share."""
    global _tracker
    if _tracker is None:
        # Two threads may do this at the same time; then one tracker is lost with its few results.
        _tracker = ToolCallTracker()
    return _tracker


def set_tool_call_tracker(tracker: ToolCallTracker | None) -> None:
    """Replace the shared tracker; after None, the next use creates a new tracker."""
    global _tracker
    _tracker = tracker
