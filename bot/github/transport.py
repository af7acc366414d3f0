"""Sends every request to GitHub: waits for the rate limits, sends the request, and retries if necessary.

The transport sits below githubkit, so that all of githubkit's requests keep the limits, even requests for tokens.
githubkit opens and closes a client around each request, but the transport's connections stay open.
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

# GitHub treats more than 100 simultaneous requests as abuse. A process needs fewer.
_CONNECTIONS = httpx.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=30)
_SAFE = ("GET", "HEAD")
_SEARCHES = {SEARCH: RemarkCode.SEARCH_LIMIT, HYBRID: RemarkCode.HYBRID_LIMIT}
# These failures happen before anything is sent.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


def open_connections(base_url: httpx.URL) -> httpx.HTTPTransport:
    """A pool of connections for the whole process. Honours the usual proxy variables for `base_url`."""
    proxy = urllib.request.getproxies().get(base_url.scheme)
    if proxy and (is_here(str(base_url)) or urllib.request.proxy_bypass(base_url.host)):
        proxy = None
    trusted = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return httpx.HTTPTransport(verify=trusted, limits=_CONNECTIONS, proxy=proxy)


@functools.cache
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    # Reading all certificate authorities takes 30 ms, so share them between pools. The arguments are only cache keys:
    # httpx reads SSL_CERT_FILE and SSL_CERT_DIR itself.
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Limits a request and its retries in a `time_limit` block to `seconds`. `over` is set when the block ends."""

    seconds: float
    over: threading.Event = field(default_factory=threading.Event)


_time_limit: ContextVar[TimeLimit | None] = ContextVar("time_limit", default=None)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Limit each request of the block to `seconds`; None sets no limit. Limited requests never wait for a rate limit.

    After the block, threads that the block started send nothing more. The finder uses this for network sources (F8b).
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
    """A request. `path` is below the API's base. `deadline` ends waits and retries."""

    request: httpx.Request
    path: str
    cost: Cost
    deadline: float
    time_limit: TimeLimit | None = None

    @property
    def operation(self) -> str:
        return f"{self.request.method} {self.path}"

    @property
    def kind(self) -> str:
        return kind_of(self.request.method, self.cost)


# An attempt's answer, or the failure.
_Outcome = httpx.Response | httpx.RequestError


@dataclass(eq=False, repr=False, kw_only=True)
class RateLimitedTransport(httpx.BaseTransport):
    """The transport of one account: an installation, the App itself, or a token's owner.

    A request waits and retries for at most `patience` seconds; after that, the queue should retry the job. Every
    request asks for `api_version`, even if githubkit's method was generated for another version.

    Raises RateLimited and Unavailable. A write or a GraphQL request raises Overtaken if another worker
    now has this thread's job. A redirected write raises NotFound: the write could change another repository.
    A redirect to another server raises NotFound, too: the server could be in this machine's network.
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
            step = self._next_step(call, outcome, attempt)
            if not isinstance(step, Retry):
                return _result(call, outcome, step)
            log.info("%s: %s; again in %.1f s", call.operation, _failure_text(outcome), step.after)
            # After a rate limit, `_wait_for_limits` makes this thread wait, like all other threads.
            if step.limit is None:
                self.sleep(step.after)
            attempt += 1

    def _wait_for_limits(self, call: _Call) -> None:
        if call.time_limit is not None and call.time_limit.over.is_set():
            raise Unavailable(f"{call.operation}: nobody waits for it any more")
        while seconds_to_wait := self.limiter.take(call.cost):
            if call.time_limit is not None or self.monotonic() + seconds_to_wait > call.deadline:
                raise RateLimited(_limit_message(call), after=seconds_to_wait)
            self.sleep(seconds_to_wait)

    def _try(self, call: _Call, attempt: int) -> _Outcome:
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

    def _next_step(self, call: _Call, outcome: _Outcome, attempt: int) -> NextStep:
        """Decide the next step, count the attempt, and tell the limiter of the answer's limits."""
        response = outcome if isinstance(outcome, httpx.Response) else None
        step = decide(
            _answer(response, call.cost),
            attempt=attempt,
            repeatable=is_repeatable(call.request.method, call.path) or isinstance(outcome, _UNSENT),
            patience=call.deadline - self.monotonic(),
            now=self.server_clock.now(),
            resource=call.cost.resource,
            strikes=self.limiter.strikes(),
            jitter=self.jitter(),
        )
        limit = step.limit if isinstance(step, Retry | Raise) else None
        GITHUB_REQUESTS.labels(call.kind, _result_label(response, limit)).inc()
        if response is None:
            return step
        if limit is not None:
            self.limiter.refused(limit)
        elif response.is_success:
            self.limiter.succeeded()
        if (left := quota(response.headers, self.server_clock.now())) is not None:
            remaining, seconds = left
            self.limiter.learn(call.cost.resource, remaining, seconds)
            GITHUB_REMAINING.labels(call.cost.resource).set(remaining)
        return step


def _result(call: _Call, outcome: _Outcome, step: Ok | Raise) -> httpx.Response:
    if isinstance(step, Raise) and step.limit is not None:
        raise RateLimited(_limit_message(call), after=step.limit.after)
    if isinstance(step, Raise) or isinstance(outcome, httpx.RequestError):
        raise Unavailable(f"{call.operation}: {_failure_text(outcome)}")
    if outcome.has_redirect_location and (call.request.method not in _SAFE or _leads_away(call.request.url, outcome)):
        raise NotFound(call.operation, outcome.status_code, "it has moved")
    return outcome


def _shorten(request: httpx.Request, seconds: float) -> None:
    """Limit each step of a request to `seconds`."""
    before = request.extensions.get("timeout", {})
    limits = {step: min(seconds, before.get(step) or seconds) for step in ("connect", "read", "write", "pool")}
    request.extensions = {**request.extensions, "timeout": limits}


def _answer(response: httpx.Response | None, cost: Cost) -> ResponseData:
    if response is None:
        return ResponseData(status=0)  # no answer
    needs_body = response.status_code >= 400 or cost.resource == GRAPHQL
    return ResponseData(response.status_code, response.headers, response.content if needs_body else b"")


def _leads_away(url: httpx.URL, response: httpx.Response) -> bool:
    try:
        target = url.join(response.headers["location"])
    except httpx.InvalidURL:
        return True
    return (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port)


def _result_label(response: httpx.Response | None, limit: RateLimit | None) -> str:
    if response is None:
        return "unanswered"
    if limit is not None:
        return "limited"
    if response.status_code < 400:
        return "unchanged" if response.status_code == 304 else "ok"
    return "refused" if response.status_code < 500 else "failed"


def _limit_message(call: _Call) -> str | Remark:
    """The message for a limit. A search's message names no path, because it appears in comments."""
    if call.cost.resource in _SEARCHES:
        return _SEARCHES[call.cost.resource].of()
    return f"{call.operation}: GitHub's rate limit is used up for now"


def _failure_text(outcome: _Outcome) -> str:
    """What went wrong, without httpx's messages, because some of them quote a header."""
    if isinstance(outcome, httpx.Response):
        return f"GitHub answered {outcome.status_code}"
    if isinstance(outcome, httpx.TimeoutException):
        return "GitHub did not answer in time"
    if isinstance(outcome, httpx.ConnectError):
        # httpx's message repeats OpenSSL's text. Nothing else says that the certificate is not trusted.
        untrusted = "CERTIFICATE_VERIFY_FAILED" in str(outcome)
        return "GitHub's certificate is not trusted here" if untrusted else "GitHub cannot be reached"
    return f"the connection failed ({type(outcome).__name__})"


class ServerClock:
    """The host's clock, corrected by GitHub's last answer. Thread safe: the correction is a single assignment."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        # How many seconds GitHub's clock is ahead of the host's; None before the first answer.
        self.skew: float | None = None

    def now(self) -> float:
        return self._clock() + (self.skew or 0.0)

    def observe(self, headers: Mapping[str, str]) -> None:
        """Compare the host's clock with the `Date` header of an answer that has just arrived."""
        try:
            date = parsedate_to_datetime(headers.get("date", "")).timestamp()
        except (TypeError, ValueError):
            return
        # The header has whole seconds, so it is half a second behind on average. Ignore a difference below two seconds.
        skew = date + 0.5 - self._clock()
        self.skew = 0.0 if abs(skew) < 2 else skew
