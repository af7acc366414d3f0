"""What was asked lately, session by session, with its answer."""

from __future__ import annotations

import copy
import inspect
import logging
import threading
import time
from collections import Counter, OrderedDict, deque
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
"""Of what all sessions of a process remember together."""


@dataclass(frozen=True, slots=True)
class CachedResult(Generic[R]):
    """An answer, as the tool gave it, and what stands beside it: `cached` says that it is an earlier one, `at` at what
    time of day (the host's) it was fetched.
    """

    result: R
    cached: bool
    at: str

    @property
    def note(self) -> str:
        """What a reader of a cached answer is told (T2); empty for a new one."""
        return f"[Cached result from {self.at}]" if self.cached else ""


class Tracked(Protocol[P, RC]):
    """A wrapped tool: called like the tool itself, it gives what that gives; `call` also tells whether it is new.

    Of a coroutine function either is awaited.
    """

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> RC: ...
    def call(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...


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
    state: object = None


_GENERIC = ToolRule(generic)
# The session of what all sessions have in common. No other is named so: theirs are texts that somebody chose.
_ALL = "\0all"


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
        self._rules: dict[str, ToolRule] = {tool: ToolRule(rule) for tool, rule in RULES.items()}
        self._sessions: OrderedDict[str, deque[_Record]] = OrderedDict()
        self._hits: Counter[str] = Counter()
        self._misses: Counter[str] = Counter()
        self._size = 0
        self._lock = threading.Lock()

    def add_rule(self, tool: str, rule: Rule | ToolRule) -> None:
        """Say when two calls of `tool` are the same (T4); replaces the rule it had. One that raises says "not"."""
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
        """The earlier answer to the same question, or the one that `run` gives now.

        `fresh` asks anew in any case, and remembers the new answer. What raises is never remembered, nor what `keep`
        (by default: everything that does not report its own failure) declines.
        """
        if not fresh and (known := self.find(session, tool, arguments)):
            return known
        asked, state = self._asked(tool, arguments)
        result = run()
        if asked is not None and (keep or _succeeded)(result):
            self.remember(session, tool, asked, result, state)
        return CachedResult(result, cached=False, at=_time_of_day(self._clock()))

    def find(self, session: str, tool: str, arguments: Arguments) -> CachedResult[Any] | None:
        """The latest answer to the same question in this session, None if there is none that is still good."""
        if not self.enable_duplicate_detection:
            return None
        with self._lock:
            rule = self._rule_of(tool)
            calls = list(self._sessions.get(_ALL if rule.shared else session, ()))
        now = self._clock()
        # Rules are others' code, and may take their time: they run outside the lock.
        good = (record for record in reversed(calls) if record.tool == tool and self._is_good(record, now))
        found = _latest(rule, tool, good, arguments)
        with self._lock:
            (self._misses if found is None else self._hits)[tool] += 1
        return None if found is None else CachedResult(found.result, cached=True, at=_time_of_day(found.moment))

    def remember(self, session: str, tool: str, arguments: Arguments, result: Any, state: object = None) -> None:
        """Keep an answer. In a full session the oldest call makes room; a session leaves when all in it is too old.

        `state` is what the tool's rule gave as `unchanged` before the call. What can be read only once is not kept: the
        first reader leaves nothing of it for the next.
        """
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
        """`function` with a memory: it keeps its name, signature and docstring, and gives what it always gives (T7).

        `session` says, at each call where it is a function, whose calls are remembered together; `tool` is the name of
        the rule, by default the function's. What a caller does to a result is not in the next one.
        """
        name, signature = tool or getattr(function, "__name__", ""), inspect.signature(function)

        def known(args: Any, kwargs: Any) -> tuple[str, dict[str, Any], CachedResult[Any] | None]:
            place = session if isinstance(session, str) else session()
            given = signature.bind(*args, **kwargs).arguments
            for parameter in signature.parameters.values():
                if parameter.kind is parameter.VAR_KEYWORD:
                    given.update(given.pop(parameter.name, {}))
            found = self.find(place, name, given)
            return place, given, found and replace(found, result=_copy_or_same(found.result))

        def new(place: str, asked: Arguments | None, state: object, result: Any) -> CachedResult[Any]:
            if asked is not None and _succeeded(result):
                self.remember(place, name, asked, _copy_or_same(result), state)
            return CachedResult(result, cached=False, at=_time_of_day(self._clock()))

        def call(*args: P.args, **kwargs: P.kwargs) -> CachedResult[R]:
            place, given, found = known(args, kwargs)
            return found or new(place, *self._asked(name, given), function(*args, **kwargs))

        async def call_awaited(*args: P.args, **kwargs: P.kwargs) -> CachedResult[R]:
            place, given, found = known(args, kwargs)
            return found or new(place, *self._asked(name, given), await cast("Any", function(*args, **kwargs)))

        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            return call(*args, **kwargs).result

        @wraps(function)
        async def wrapped_awaited(*args: P.args, **kwargs: P.kwargs) -> R:
            return (await call_awaited(*args, **kwargs)).result

        awaited = inspect.iscoroutinefunction(function)
        made: Any = wrapped_awaited if awaited else wrapped
        made.call = call_awaited if awaited else call
        return cast("Tracked[P, R]", made)

    def clear_session(self, session: str) -> None:
        """Forget one session."""
        with self._lock:
            self._drop(session)

    def clear_all(self) -> None:
        """Forget everything, and count from nought."""
        with self._lock:
            self._sessions.clear()
            self._hits.clear()
            self._misses.clear()
            self._size = 0

    def get_stats(self) -> Stats:
        """See Stats."""
        with self._lock:
            self._expire(self._clock())
            return Stats(
                total_sessions=len(self._sessions),
                total_calls=sum(map(len, self._sessions.values())),
                hits=self._hits.total(),
                misses=self._misses.total(),
            )

    def by_tool(self) -> dict[str, tuple[int, int]]:
        """Hits and misses of each tool that was asked so far."""
        with self._lock:
            return {tool: (self._hits[tool], self._misses[tool]) for tool in self._hits | self._misses}

    def _rule_of(self, tool: str) -> ToolRule:
        return self._rules.get(tool, _GENERIC)

    def _asked(self, tool: str, arguments: Arguments) -> tuple[Arguments | None, object]:
        """What is to be remembered of a call besides its result; None where a later one cannot be compared with it."""
        # What cannot be copied may change before the next call.
        asked = _copied(dict(arguments))
        try:
            with self._lock:
                rule = self._rule_of(tool)
            return asked, _state(rule, arguments)
        except Exception:
            return None, None

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


def _latest(rule: ToolRule, tool: str, records: Iterator[_Record], arguments: Arguments) -> _Record | None:
    """The first of the records that asked the same and whose answer holds."""
    try:
        same = [record for record in records if rule.same(arguments, record.arguments)]
        state = _state(rule, arguments) if same else None
        return next((record for record in same if record.state == state), None)
    except Exception:
        # The call can always be made, and what is wrong with the rule is no fault of the caller's.
        log.warning("the rule of %s failed; the call is made anew", tool, exc_info=True)
        return None


def _copied(value: R) -> R | None:
    """A copy that shares nothing with `value`, None where there can be none."""
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


#: Who answered: what a thread remembered, or GitHub.
HITS, MISSES = "memory", "github"


class CallCounts:
    """Tells what a tracker has counted since the last time, tool by tool (T7). Thread safe."""

    def __init__(self, tracker: ToolCallTracker, tell: Callable[[str, str, int], object]) -> None:
        """`tell` takes the tool, who answered, and how often that was."""
        self._tracker = tracker
        self._tell = tell
        self._told: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def flush(self) -> None:
        """Tell what is new."""
        with self._lock:
            for tool, counts in self._tracker.by_tool().items():
                for who, now in zip((HITS, MISSES), counts, strict=True):
                    told = self._told.get((tool, who), 0)
                    # A tracker that was cleared counts from nought.
                    if new := now - told if now >= told else now:
                        self._tell(tool, who, new)
                    self._told[tool, who] = now
