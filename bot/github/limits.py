"""The pure function `decide` says whether to accept an answer, retry or give up. `RateLimiter` says when to send.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api has the rules: honour `retry-after`; else
wait for `x-ratelimit-reset` if no request remains; else wait at least a minute, and longer each time.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from bot.domain.formats import with_zone

RETRIES = 3
"""The most retries of a request. Retries after limits and after failures both count."""

# Seconds: the first pause after a failure; the first and the longest pause after a limit without a stated time.
_FIRST_PAUSE, _LIMIT_PAUSE, _LONGEST_LIMIT_PAUSE = 0.5, 60.0, 960.0
# GitHub's longest window is an hour. A broken header that says years must not silence the bot for years.
_LONGEST_STATED = 86_400.0
# `x-ratelimit-reset` and `Date` are whole seconds, so wait another second.
_ROUNDING = 1.0
_MENTIONS_LIMIT = re.compile(rb"rate.limit", re.IGNORECASE)
_TOO_QUICK = "was submitted too quickly"


@dataclass(frozen=True, slots=True)
class ResponseData:
    """GitHub's answer. `status` is 0 without an answer. Header names are lower case.

    `body` matters for 403, 422 and 429, and for GraphQL, which also reports limits with status 200.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Ok:
    """Accept the answer, which is a success or a permanent refusal."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A rate limit of GitHub's, for `after` seconds. `stated` says whether GitHub named the time.

    A primary limit covers one `resource`. A secondary limit covers everything: `resource` is then None.
    """

    after: float
    resource: str | None
    stated: bool


@dataclass(frozen=True, slots=True)
class Retry:
    """Send the request again after `after` seconds."""

    after: float
    limit: RateLimit | None = None


@dataclass(frozen=True, slots=True)
class Raise:
    """Give up for now, because of a rate limit, or because GitHub is out of order."""

    limit: RateLimit | None = None


NextStep = Ok | Retry | Raise


def decide(
    answer: ResponseData,
    *,
    attempt: int,
    repeatable: bool,
    patience: float,
    now: float,
    resource: str,
    strikes: int = 0,
    jitter: float = 0.0,
) -> NextStep:
    """Decide what to do after an answer.

    `attempt` counts the retries so far. `repeatable` says that sending the request twice does no harm. `patience` is
    the seconds left for this request. `now` is GitHub's time in seconds since 1970. `resource` names the request's
    primary limit. `strikes` counts the previous limits without a stated time. `jitter` in [0, 1) spreads the retries.

    A request refused for a limit may always be repeated, because GitHub has not carried it out. After other failures,
    GitHub may have carried out the request.
    """
    if limit := find_limit(answer, now=now, resource=resource, strikes=strikes, jitter=jitter):
        if attempt < RETRIES and limit.after <= patience:
            return Retry(limit.after, limit)
        return Raise(limit)
    if 0 < answer.status < 500 or answer.status == 501:
        return Ok()
    pause = max(_FIRST_PAUSE * 2**attempt * (1 + jitter), retry_after(answer.headers, now) or 0.0)
    if repeatable and attempt < RETRIES and pause <= patience:
        return Retry(pause)
    return Raise()


def find_limit(
    answer: ResponseData, *, now: float, resource: str, strikes: int = 0, jitter: float = 0.0
) -> RateLimit | None:
    """The rate limit that this answer reports, if any. The arguments are as in `decide`."""
    headers = answer.headers
    # `message` is empty or about a limit (for 403 and 429: any message). `used_up`: the primary limit is reached.
    if answer.status == 422:
        # A 422 can say that we are too quick. Then an error has the code `abuse` (octokit/plugin-throttling.js#775), or
        # the message _TOO_QUICK, which REST passes on from GraphQL (cli/cli#4801).
        errors = _errors(_read(answer.body))
        too_quick = any(error.get("code") == "abuse" or error.get("message") == _TOO_QUICK for error in errors)
        message, used_up = (_TOO_QUICK if too_quick else ""), False
    elif answer.status in (403, 429):
        message, used_up = message_of(answer.body).lower(), headers.get("x-ratelimit-remaining") == "0"
    elif answer.status == 200:
        # GraphQL may refuse while `x-ratelimit-remaining` is above 0: read the body (octokit/plugin-throttling.js#636).
        message, used_up = _limit_in(answer.body)
    else:
        return None
    if answer.status in (200, 422) and not message:
        return None
    covers = resource if used_up and "secondary" not in message else None
    if (after := retry_after(headers, now)) is not None:
        return RateLimit(after, covers, stated=True)
    if used_up and (reset := _until_reset(headers, now)) is not None:
        return RateLimit(max(reset, 0.0) + _ROUNDING, covers, stated=True)
    # A 403 without a word about limits is a permanent refusal.
    if answer.status == 403 and "rate limit" not in message and "abuse detection" not in message:
        return None
    pause = min(_LIMIT_PAUSE * 2 ** min(strikes, 10), _LONGEST_LIMIT_PAUSE)
    return RateLimit(pause * (1 + jitter / 4), None, stated=False)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds to wait by the header `retry-after` (RFC 9110, 10.2.3), at most a day; None without the header."""
    text = headers.get("retry-after", "").strip()
    if (seconds := _number(text)) is not None:
        return min(seconds, _LONGEST_STATED)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return min(max(with_zone(moment).timestamp() - now, 0.0), _LONGEST_STATED)


def quota(headers: Mapping[str, str], now: float) -> tuple[int, float] | None:
    """The remaining requests, and the seconds until the reset (at most a day, negative after the reset), if known."""
    remaining, reset = _number(headers.get("x-ratelimit-remaining")), _until_reset(headers, now)
    return None if remaining is None or reset is None else (int(remaining), reset)


def message_of(body: bytes) -> str:
    """The `message` of an error body, followed by the messages of its `errors`; empty for any other body."""
    data = _read(body)
    parts = [data.get("message")]
    for error in data.get("errors") or ():
        parts.append(error.get("message") if isinstance(error, dict) else error)
    return " ".join(" ".join(part for part in parts if isinstance(part, str)).split())


def _limit_in(body: bytes) -> tuple[str, bool]:
    """The message about a limit in a GraphQL answer of status 200 (empty: no limit), and whether the limit is primary.

    https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api: an error's type reveals
    the primary limit. Only the message reveals a secondary limit. If the answer also has data, the message alone
    proves nothing, because it may quote an issue.
    """
    # Parse only answers that mention a limit, because answers are large. The mention may also come from an issue.
    data = _read(body) if _MENTIONS_LIMIT.search(body) else {}
    for error in _errors(data):
        message = str(error.get("message")).lower()
        if "secondary rate limit" in message and not data.get("data"):
            return message, False
        if error.get("type") in ("RATE_LIMIT", "RATE_LIMITED"):
            return message, "secondary" not in message
    return "", False


def _read(body: bytes) -> dict[str, Any]:
    """An answer's JSON; empty for malformed JSON, a non-mapping, or `errors` that are not a list."""
    try:
        data = json.loads(body)
    except ValueError:
        return {}
    return data if isinstance(data, dict) and isinstance(data.get("errors", []), list) else {}


def _errors(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [error for error in data.get("errors", ()) if isinstance(error, dict)]


def _until_reset(headers: Mapping[str, str], now: float) -> float | None:
    reset = _number(headers.get("x-ratelimit-reset"))
    return None if reset is None else min(reset - now, _LONGEST_STATED)


def _number(text: str | None) -> float | None:
    """A header's whole number of at most ten digits, enough for seconds since 1970. None for any other text."""
    return float(text) if text and text.isascii() and text.isdigit() and len(text) <= 10 else None


# The primary limits; CONTENT is secondary.
CORE, APP, SEARCH, HYBRID = "core", "app", "search", "semantic_search"
GRAPHQL, CONTENT = "graphql", "content"

# Our periods are a second longer than GitHub's, because GitHub counts a request on arrival, later than we do.
_MINUTE = 61.0
_HOUR = 3601.0

# How many requests GitHub allows in how many seconds.
LIMITS: Mapping[str, Sequence[tuple[int, float]]] = {
    SEARCH: ((30, _MINUTE),),
    HYBRID: ((10, _MINUTE),),
    CONTENT: ((80, _MINUTE), (500, _HOUR)),
}
_READING = ("GET", "HEAD", "OPTIONS")
# POST requests that are safe to repeat: for a token, a label, a reaction, or GraphQL, where our mutations only fold and
# unfold comments. Any other POST, sent twice, could write a second comment.
_REPEATABLE_POSTS = re.compile(r"(/api)?/graphql|/app/installations/\d+/access_tokens|/repos/.+/(labels|reactions)")


@dataclass(frozen=True, slots=True)
class Cost:
    """The limits that a request counts towards.

    `resource` is the primary limit (as in `x-ratelimit-resource`). `content` says whether the request creates content.
    """

    resource: str
    content: bool = False


def cost_of(method: str, path: str, query: Mapping[str, str]) -> Cost:
    """The cost of a request. `path` omits the base path of an Enterprise server."""
    if path in ("/graphql", "/api/graphql"):
        return Cost(GRAPHQL)
    if path.startswith("/search/"):
        return Cost(HYBRID if query.get("search_type") in ("semantic", "hybrid") else SEARCH)
    if path.endswith("/access_tokens"):
        # Requests for an installation's tokens count towards the App's own budget.
        return Cost(APP)
    # The App's own writes, such as redeliveries, create no content.
    return Cost(CORE, content=method not in (*_READING, "DELETE") and not path.startswith("/app/"))


def kind_of(method: str, cost: Cost) -> str:
    """A request's kind, for the metrics: `read` or `write`, or the name of a special limit."""
    if cost.resource != CORE:
        return cost.resource
    return "read" if method in _READING else "write"


def is_repeatable(method: str, path: str) -> bool:
    """Whether sending a request twice does no harm."""
    return method != "POST" or bool(_REPEATABLE_POSTS.fullmatch(path))


class RateLimiter:
    """Says when the client may send a request. Uses sliding windows: a token bucket would allow two bursts in a minute.

    `clock` counts seconds and never goes back (`time.monotonic`). Thread safe.
    """

    def __init__(self, clock: Callable[[], float], limits: Mapping[str, Sequence[tuple[int, float]]] = LIMITS) -> None:
        self._clock = clock
        # For each window: the times of the latest requests, as many as the limit allows, and the window's length.
        self._windows = {
            name: [(deque[float](maxlen=most), seconds) for most, seconds in group] for name, group in limits.items()
        }
        # Until when each resource is blocked; None stands for all resources.
        self._blocked: dict[str | None, float] = {}
        self._strikes = 0
        self._unstated_pause_ends = float("-inf")
        self._lock = threading.Lock()

    def take(self, cost: Cost) -> float:
        """Count a request and return 0, or return the seconds to wait before calling `take` again.

        A waiting thread has no reservation, so a later refusal by GitHub delays that thread too.
        """
        with self._lock:
            now = self._clock()
            windows = [*self._windows.get(cost.resource, ()), *(self._windows.get(CONTENT, ()) if cost.content else ())]
            # A full window has room again once its oldest request is `seconds` old.
            full = [sent[0] + seconds - now for sent, seconds in windows if len(sent) == sent.maxlen]
            blocked = [self._blocked.get(name, now) - now for name in (None, cost.resource)]
            delay: float = max(0.0, *blocked, *full)
            if not delay:
                for sent, _ in windows:
                    sent.append(now)
            return delay

    def learn(self, resource: str, remaining: int, seconds: float) -> None:
        """Learn from GitHub how many requests of a resource remain for the next `seconds`."""
        if remaining < 1:
            with self._lock:
                self._block(resource, seconds)

    def refused(self, limit: RateLimit) -> None:
        """Block what the limit covers. If no time is stated, add a strike, but not during a pause (all is blocked)."""
        with self._lock:
            if not limit.stated and not self._paused():
                self._strikes += 1
                self._unstated_pause_ends = self._clock() + limit.after
            self._block(limit.resource, limit.after)

    def strikes(self) -> int:
        """How many pauses without a stated time have ended since the last success."""
        with self._lock:
            return self._strikes - 1 if self._unstated_pause_ends > self._clock() else self._strikes

    def succeeded(self) -> None:
        """Note a success, so that the next pause is the shortest again."""
        with self._lock:
            # A request that succeeds during a pause was sent before the pause.
            if not self._paused():
                self._strikes = 0

    def _block(self, resource: str | None, seconds: float) -> None:
        until = self._clock() + seconds
        self._blocked[resource] = max(until, self._blocked.get(resource, until))

    def _paused(self) -> bool:
        return self._blocked.get(None, float("-inf")) > self._clock()
