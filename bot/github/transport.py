"""Sends every request to GitHub: waits for the rate limits, sends, judges the answer, perhaps sends again.

It sits below githubkit, so that all its requests keep the limits, those for tokens included. githubkit opens and closes
a client around each request; the connections here stay open.
"""

from __future__ import annotations

import functools
import logging
import os
import ssl
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

import httpx

from bot.domain.errors import NotFound, RateLimited, Remark, RemarkCode, Unavailable
from bot.github.limits import (
    GRAPHQL,
    HYBRID,
    SEARCH,
    Cost,
    NextStep,
    Ok,
    Raise,
    RateLimit,
    RateLimiter,
    ResponseData,
    Retry,
    cost_of,
    decide,
    is_repeatable,
    kind_of,
    quota,
)
from bot.platform.lease import check_lease
from bot.platform.local import is_here
from bot.platform.metrics import GITHUB_REMAINING, GITHUB_REQUESTS, GITHUB_SECONDS
from bot.platform.tracing import span

log = logging.getLogger(__name__)

# GitHub counts more than 100 requests at once as abuse; a process never needs as many.
_CONNECTIONS = httpx.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=30)
_SAFE = ("GET", "HEAD")
_SEARCHES = {SEARCH: RemarkCode.SEARCH_LIMIT, HYBRID: RemarkCode.HYBRID_LIMIT}
# These failures happen before anything is sent.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


def open_connections(base_url: httpx.URL) -> httpx.HTTPTransport:
    """A pool of connections for the whole process; honours the usual proxy variables for `base_url`."""
    proxy = urllib.request.getproxies().get(base_url.scheme)
    if proxy and (is_here(str(base_url)) or urllib.request.proxy_bypass(base_url.host)):
        proxy = None
    trusted = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return httpx.HTTPTransport(verify=trusted, limits=_CONNECTIONS, proxy=proxy)


@functools.cache
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    # To read all authorities takes 30 ms, and pools can share them. httpx reads the variables of the arguments.
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """A request may take `seconds`, with waits and retries. Once `over` is set, no further one is sent."""

    seconds: float
    over: threading.Event = field(default_factory=threading.Event)


_time_limit: ContextVar[TimeLimit | None] = ContextVar("time_limit", default=None)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Let each request inside the block take so many seconds, and send none after it; None sets no limit.

    It is for sources whose answers are not waited for (F8b). Such a request never waits for a rate limit.
    """
    limit = None if seconds is None else TimeLimit(seconds)
    token = _time_limit.set(limit)
    try:
        yield
    finally:
        _time_limit.reset(token)
        if limit is not None:
            limit.over.set()


@dataclass(frozen=True, slots=True)
class _Call:
    """One request: its path below the API's base, its cost, the deadline for waits and retries, the time limit."""

    request: httpx.Request
    path: str
    cost: Cost
    deadline: float
    limit: TimeLimit | None = None

    @property
    def operation(self) -> str:
        """The request, for errors."""
        return f"{self.request.method} {self.path}"

    @property
    def kind(self) -> str:
        """Its kind, for the metrics."""
        return kind_of(self.request.method, self.cost)


# One attempt's answer, or the reason why there is none.
_Outcome = httpx.Response | httpx.RequestError


@dataclass(eq=False, repr=False, kw_only=True)
class RateLimitedTransport(httpx.BaseTransport):
    """The transport of one installation, or of the App itself.

    A call may wait and repeat itself for `patience` seconds; after that the work is better put back into the queue.
    `api_version` goes with every request, whatever version githubkit's methods were generated for.

    Raises RateLimited with the seconds to wait, Unavailable, and Overtaken instead of a write for a lost lease. Only
    reads follow a redirect, and only to the same server: another could lead into this machine's own network. A redirect
    raises NotFound otherwise, since a text for one place must not appear in another.
    """

    connections: httpx.BaseTransport
    limiter: RateLimiter
    server_clock: ServerClock
    base_path: str
    api_version: str
    patience: float
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    jitter: Callable[[], float]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request, as often as the limits and its nature allow."""
        path = request.url.path.removeprefix(self.base_path)
        cost = cost_of(request.method, path, request.url.params)
        limit = _time_limit.get()
        patience = self.patience if limit is None else min(self.patience, limit.seconds)
        call = _Call(request, path, cost, self.monotonic() + patience, limit)
        if limit is not None:
            _shorten(request, limit.seconds)
        request.headers["X-GitHub-Api-Version"] = self.api_version
        attempt = 0
        while True:
            self._wait_for_limits(call)
            outcome = self._try(call, attempt)
            verdict = self._judge(call, outcome, attempt)
            if not isinstance(verdict, Retry):
                return _result(call, outcome, verdict)
            log.info("%s: %s; again in %.1f s", call.operation, _what(outcome), verdict.after)
            # After a rate limit the limiter makes this thread wait, as all others.
            if verdict.limit is None:
                self.sleep(verdict.after)
            attempt += 1

    def _wait_for_limits(self, call: _Call) -> None:
        if call.limit is not None and call.limit.over.is_set():
            raise Unavailable(f"{call.operation}: nobody waits for it any more")
        while delay := self.limiter.take(call.cost):
            if call.limit is not None or self.monotonic() + delay > call.deadline:
                raise RateLimited(_used_up(call), after=delay)
            self.sleep(delay)

    def _try(self, call: _Call, attempt: int) -> _Outcome:
        """Send it once, and read the body of the answer."""
        if call.request.method not in _SAFE:
            check_lease()
        with GITHUB_SECONDS.labels(call.kind).time(), span("github", kind=call.kind, attempt=attempt + 1) as traced:
            try:
                response = self.connections.handle_request(call.request)
                response.read()
            except httpx.RequestError as failure:
                traced.set_attribute("status", 0)
                return failure
            self.server_clock.observe(response.headers)
            traced.set_attribute("status", response.status_code)
            return response

    def _judge(self, call: _Call, outcome: _Outcome, attempt: int) -> NextStep:
        """Decide what to do next, count the attempt, and pass on what GitHub says of its limits."""
        response = outcome if isinstance(outcome, httpx.Response) else None
        verdict = decide(
            _answer(response, call.cost),
            attempt=attempt,
            repeatable=is_repeatable(call.request.method, call.path) or isinstance(outcome, _UNSENT),
            patience=call.deadline - self.monotonic(),
            now=self.server_clock.now(),
            resource=call.cost.resource,
            strikes=self.limiter.strikes(),
            jitter=self.jitter(),
        )
        limit = verdict.limit if isinstance(verdict, Retry | Raise) else None
        GITHUB_REQUESTS.labels(call.kind, _came_back(response, limit)).inc()
        if response is None:
            return verdict
        if limit is not None:
            self.limiter.refused(limit)
        elif response.is_success:
            self.limiter.succeeded()
        if (left := quota(response.headers, self.server_clock.now())) is not None:
            self.limiter.learn(call.cost.resource, *left)
            GITHUB_REMAINING.labels(call.cost.resource).set(left[0])
        return verdict


def _result(call: _Call, outcome: _Outcome, verdict: Ok | Raise) -> httpx.Response:
    """The answer, or the error that stands for it."""
    if isinstance(verdict, Raise) and verdict.limit is not None:
        raise RateLimited(_used_up(call), after=verdict.limit.after)
    if isinstance(verdict, Raise) or isinstance(outcome, httpx.RequestError):
        raise Unavailable(f"{call.operation}: {_what(outcome)}")
    if outcome.has_redirect_location and (call.request.method not in _SAFE or _leads_away(call.request.url, outcome)):
        raise NotFound(call.operation, outcome.status_code, "it has moved")
    return outcome


def _shorten(request: httpx.Request, seconds: float) -> None:
    """Bound each step of an answer to so many seconds."""
    before = request.extensions.get("timeout", {})
    limits = {step: min(seconds, before.get(step) or seconds) for step in ("connect", "read", "write", "pool")}
    request.extensions = {**request.extensions, "timeout": limits}


def _answer(response: httpx.Response | None, cost: Cost) -> ResponseData:
    if response is None:
        return ResponseData(0)
    matters = response.status_code >= 400 or cost.resource == GRAPHQL
    return ResponseData(response.status_code, response.headers, response.content if matters else b"")


def _leads_away(url: httpx.URL, response: httpx.Response) -> bool:
    """Whether a redirect leads to another server."""
    try:
        target = url.join(response.headers["location"])
    except httpx.InvalidURL:
        return True
    return (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port)


def _came_back(response: httpx.Response | None, limit: RateLimit | None) -> str:
    """The result in the metric's words."""
    if response is None:
        return "unanswered"
    if limit is not None:
        return "limited"
    if response.status_code == 304:
        return "unchanged"
    return "ok" if response.status_code < 400 else "refused" if response.status_code < 500 else "failed"


def _used_up(call: _Call) -> str | Remark:
    """The message for a limit. Comments show that of searches, so it names neither paths nor resources."""
    if call.cost.resource in _SEARCHES:
        return _SEARCHES[call.cost.resource].of()
    return f"{call.operation}: GitHub's rate limit is used up for now"


def _what(outcome: _Outcome) -> str:
    """What went wrong, in our own words: some of httpx's messages quote a header."""
    if isinstance(outcome, httpx.Response):
        return f"GitHub answered {outcome.status_code}"
    if isinstance(outcome, httpx.TimeoutException):
        return "GitHub did not answer in time"
    if isinstance(outcome, httpx.ConnectError):
        # httpx passes on this word of OpenSSL's, and no other sign of it.
        untrusted = "CERTIFICATE_VERIFY_FAILED" in str(outcome)
        return "GitHub's certificate is not trusted here" if untrusted else "GitHub cannot be reached"
    return f"the connection failed ({type(outcome).__name__})"


class ServerClock:
    """The host's clock, corrected by GitHub's last answer. Thread safe: the correction is one assignment."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._skew: float | None = None

    @property
    def skew(self) -> float | None:
        """Seconds by which GitHub's clock is ahead of the host's, to a second; None before the first answer."""
        return self._skew

    def now(self) -> float:
        """Seconds since 1970 as GitHub counts them."""
        return self._clock() + (self._skew or 0.0)

    def observe(self, headers: Mapping[str, str]) -> None:
        """Compare with the `Date` header, if there is one, of an answer that came just now."""
        try:
            date = parsedate_to_datetime(headers.get("date", "")).timestamp()
        except (TypeError, ValueError):
            return
        # The header has whole seconds, on average half a second ago. Less than two seconds is no skew.
        skew = date + 0.5 - self._clock()
        self._skew = 0.0 if abs(skew) < 2 else skew
