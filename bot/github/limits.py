"""Decides by GitHub's answer whether a request is done, sent again or given up. Pure.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api has the rules: honour `retry-after`, else
`x-ratelimit-reset` if nothing remains, else wait at least a minute, and longer each time.
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
"""How often a repeatable request is repeated after GitHub failed."""

_FIRST_PAUSE, _LIMIT_PAUSE, _LONGEST_LIMIT_PAUSE = 0.5, 60.0, 960.0
# GitHub's longest window is an hour. A header that names years must not silence the bot for as long.
_LONGEST_STATED = 86_400.0
# `x-ratelimit-reset` and `Date` are whole seconds: a second more is never too early.
_ROUNDING = 1.0
_MENTIONS_LIMIT = re.compile(rb"rate.limit", re.IGNORECASE)
_TOO_QUICK = "was submitted too quickly"


@dataclass(frozen=True, slots=True)
class ResponseData:
    """GitHub's answer. `status` is 0 if there was none; header names are lower case.

    `body` matters for 403, 422 and 429, and for GraphQL, which reports limits with status 200 as well.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Ok:
    """Return the answer: a success, or a refusal that waiting cannot change."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """GitHub's "not now": for how many seconds, for which resource (None: everything), and whether it said how long."""

    after: float
    resource: str | None
    stated: bool


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask again after so many seconds."""

    after: float
    limit: RateLimit | None = None


@dataclass(frozen=True, slots=True)
class Raise:
    """Give up for now, because of a rate `limit`, or because GitHub is out of order."""

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
    """Judge one answer.

    `attempt` counts the retries so far, `patience` the seconds left for this request, `strikes` the limits before this
    one that named no time. `now` is GitHub's time (seconds since 1970), `resource` the primary limit of the request;
    `jitter` in [0, 1) spreads the clients. `repeatable` says that sending it twice does no harm. GitHub did not carry
    out a request that it refused for a limit, so that may always be repeated; after another failure it may have.
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
    """The rate limit that this answer reports, if any; arguments as for `decide`. (Not every 403 is one.)

    The primary limit covers one resource, a secondary one everything.
    """
    headers = answer.headers
    if answer.status == 422:
        # "The endpoint has been spammed": the error has the code `abuse` (octokit/plugin-throttling.js, 775) or the
        # message of GraphQL's mutations, which REST passes on (cli/cli, 4801).
        errors = _errors(_read(answer.body))
        hasty = any(one.get("code") == "abuse" or one.get("message") == _TOO_QUICK for one in errors)
        message, used_up = _TOO_QUICK if hasty else "", False
    elif answer.status in (403, 429):
        message, used_up = message_of(answer.body).lower(), headers.get("x-ratelimit-remaining") == "0"
    elif answer.status == 200:
        # For GraphQL's primary limit the header may still say that some is left (octokit/plugin-throttling.js, 636).
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
    if answer.status != 403 or "rate limit" in message or "abuse detection" in message:
        pause = min(_LIMIT_PAUSE * 2 ** min(strikes, 10), _LONGEST_LIMIT_PAUSE)
        return RateLimit(pause * (1 + jitter / 4), None, stated=False)
    return None


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds by the `retry-after` header, a number or a date (RFC 9110, 10.2.3), at most a day; None without one."""
    text = headers.get("retry-after", "").strip()
    if (seconds := _number(text)) is not None:
        return min(seconds, _LONGEST_STATED)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return min(max(with_zone(moment).timestamp() - now, 0.0), _LONGEST_STATED)


def quota(headers: Mapping[str, str], now: float) -> tuple[int, float] | None:
    """How many requests are left, and for how many seconds (a day at most, negative after the reset), if known."""
    remaining, reset = _number(headers.get("x-ratelimit-remaining")), _until_reset(headers, now)
    return None if remaining is None or reset is None else (int(remaining), reset)


def message_of(body: bytes) -> str:
    """The `message` of an error body, with the messages of its `errors`; empty for any other body."""
    data = _read(body)
    parts = [data.get("message")]
    for error in data.get("errors") or ():
        parts.append(error.get("message") if isinstance(error, dict) else error)
    return " ".join(" ".join(part for part in parts if isinstance(part, str)).split())


def _limit_in(body: bytes) -> tuple[str, bool]:
    """GraphQL's message about a limit in an answer of status 200, and whether it is the primary one; empty if none.

    https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api: the primary limit has a
    type of its own, a secondary one only its message.
    """
    # Answers are large, and few report a limit; people's texts can contain the words too.
    data = _read(body) if _MENTIONS_LIMIT.search(body) else {}
    for error in _errors(data):
        message = str(error.get("message")).lower()
        if "secondary rate limit" in message and not data.get("data"):
            return message, False
        if error.get("type") in ("RATE_LIMIT", "RATE_LIMITED"):
            return message, "secondary" not in message
    return "", False


def _read(body: bytes) -> dict[str, Any]:
    """An answer's JSON; empty if it is no mapping, or its `errors` are no list."""
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
    """A header's whole number, with no more digits than a date in seconds has."""
    return float(text) if text and text.isascii() and text.isdigit() and len(text) <= 10 else None


CORE, APP, SEARCH, HYBRID = "core", "app", "search", "semantic_search"
GRAPHQL, CONTENT = "graphql", "content"

# GitHub counts requests as they arrive, not as they leave here, so our periods are a second longer.
_MINUTE = 61.0
_HOUR = 3601.0

# Requests and seconds.
LIMITS: Mapping[str, Sequence[tuple[int, float]]] = {
    SEARCH: ((30, _MINUTE),),
    HYBRID: ((10, _MINUTE),),
    CONTENT: ((80, _MINUTE), (500, _HOUR)),
}
_READING = ("GET", "HEAD", "OPTIONS")
# A token, a label, a reaction or a fold that is asked for twice leaves GitHub as one that is asked for once. A second
# comment is a second comment, and a second redelivery another delivery.
_REPEATABLE_POSTS = re.compile(r"(/api)?/graphql|/app/installations/\d+/access_tokens|/repos/.+/(labels|reactions)")


@dataclass(frozen=True, slots=True)
class Cost:
    """`resource` names the primary limit, as `x-ratelimit-resource` does; `content` says that it creates content."""

    resource: str
    content: bool = False


def cost_of(method: str, path: str, query: Mapping[str, str]) -> Cost:
    """The limits that a request counts for. `path` is without the base path of an Enterprise server."""
    if path in ("/graphql", "/api/graphql"):
        return Cost(GRAPHQL)
    if path.startswith("/search/"):
        return Cost(HYBRID if query.get("search_type") in ("semantic", "hybrid") else SEARCH)
    if path.endswith("/access_tokens"):
        # The App asks for an installation's tokens out of its own budget.
        return Cost(APP)
    # A write of the App, such as a redelivery, creates no content.
    return Cost(CORE, content=method not in (*_READING, "DELETE") and not path.startswith("/app/"))


def kind_of(method: str, cost: Cost) -> str:
    """A request's kind, for the metrics: its limit, and for most requests whether it reads or writes."""
    if cost.resource != CORE:
        return cost.resource
    return "read" if method in _READING else "write"


def is_repeatable(method: str, path: str) -> bool:
    """Whether a request that is sent twice leaves GitHub as one that is sent once."""
    return method != "POST" or bool(_REPEATABLE_POSTS.fullmatch(path))


class RateLimiter:
    """Says when a request may be sent, by sliding windows: a token bucket would let twice its size through in a minute.

    `clock` counts seconds and never goes back (`time.monotonic`). Thread safe.
    """

    def __init__(self, clock: Callable[[], float], limits: Mapping[str, Sequence[tuple[int, float]]] = LIMITS) -> None:
        self._clock = clock
        # The times of the latest requests, as many as are allowed, and the length of the window.
        self._windows = {
            name: [(deque[float](maxlen=most), seconds) for most, seconds in group] for name, group in limits.items()
        }
        self._blocked: dict[str | None, float] = {}
        self._strikes = 0
        self._lock = threading.Lock()

    def take(self, cost: Cost) -> float:
        """Count one request and return 0, or return the seconds after which to ask again.

        It reserves nothing, so that a refusal also holds for those who already wait.
        """
        with self._lock:
            now = self._clock()
            windows = [*self._windows.get(cost.resource, ()), *(self._windows.get(CONTENT, ()) if cost.content else ())]
            full = [sent[0] + seconds - now for sent, seconds in windows if len(sent) == sent.maxlen]
            delay: float = max(0.0, *(self._blocked.get(name, now) - now for name in (None, cost.resource)), *full)
            if not delay:
                for sent, _ in windows:
                    sent.append(now)
            return delay

    def learn(self, resource: str, remaining: int, seconds: float) -> None:
        """Note how many requests of a resource remain for so many seconds more."""
        if remaining < 1:
            with self._lock:
                self._block(resource, seconds)

    def refused(self, limit: RateLimit) -> None:
        """Send nothing that this limit covers until its time is over. Refusals during a pause count as one strike."""
        with self._lock:
            if not limit.stated and not self._paused():
                self._strikes += 1
            self._block(limit.resource, limit.after)

    def strikes(self) -> int:
        """How many refusals without a time came before this one, with no success in between."""
        with self._lock:
            return max(self._strikes - 1, 0) if self._paused() else self._strikes

    def succeeded(self) -> None:
        """Start again from the shortest pause, since a request went through."""
        with self._lock:
            # During a pause it was one that had been sent before.
            if not self._paused():
                self._strikes = 0

    def _block(self, resource: str | None, seconds: float) -> None:
        until = self._clock() + seconds
        self._blocked[resource] = max(until, self._blocked.get(resource, until))

    def _paused(self) -> bool:
        return self._blocked.get(None, float("-inf")) > self._clock()
