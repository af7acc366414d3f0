"""The way every request takes to GitHub: wait for its turn, send, judge the answer, perhaps send again.

It sits below githubkit, so that whatever githubkit sends, tokens included, keeps the limits. githubkit opens and closes
a client around every request and its transport with it, which closes nothing here: the connections stay open.
"""

from __future__ import annotations

import functools
import logging
import os
import ssl
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx

from bot.at_work import Hurry, hurry, make_sure
from bot.errors import NotFound, RateLimited, Remark, Told, Unavailable
from bot.github.limits.answers import Answer, Limit, Ok, Raise, Retry, Verdict, decide, quota
from bot.github.limits.pacing import GRAPHQL, HYBRID, SEARCH, Cost, Pacer, cost_of, is_repeatable, kind_of
from bot.machine.local import is_here
from bot.telemetry.metrics import GITHUB_REMAINING, GITHUB_REQUESTS, GITHUB_SECONDS
from bot.telemetry.tracing import span

log = logging.getLogger(__name__)

# GitHub counts more than 100 requests at once as abuse; a process of ours never needs as many.
_CONNECTIONS = httpx.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=30)
_SAFE = ("GET", "HEAD")
_SEARCHES = {SEARCH: Remark.SEARCH_LIMIT, HYBRID: Remark.HYBRID_LIMIT}
# These failures happen before anything is sent.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


def open_connections(base_url: httpx.URL) -> httpx.HTTPTransport:
    """A pool of connections, kept alive, for the whole process; honours the usual proxy variables for `base_url`."""
    proxy = urllib.request.getproxies().get(base_url.scheme)
    if proxy and (is_here(str(base_url)) or urllib.request.proxy_bypass(base_url.host)):
        proxy = None
    trusted = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return httpx.HTTPTransport(verify=trusted, limits=_CONNECTIONS, proxy=proxy)


@functools.cache
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    # To read all authorities takes 30 ms, and any number of pools can share them. The arguments are what httpx reads.
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class _Call:
    """One request, its path below the API's, what it costs, and until when it may be waited for and repeated.

    `hurry` is that of whoever asks, if nobody waits for the answer.
    """

    request: httpx.Request
    path: str
    cost: Cost
    deadline: float
    hurry: Hurry | None = None

    @property
    def operation(self) -> str:
        """The request in words, for errors."""
        return f"{self.request.method} {self.path}"

    @property
    def kind(self) -> str:
        """What it is counted as."""
        return kind_of(self.request.method, self.cost)


@dataclass(frozen=True, slots=True)
class _Tried:
    """What one attempt came to: an answer, or why there is none."""

    response: httpx.Response | None = None
    failure: httpx.RequestError | None = None


class PacedTransport(httpx.BaseTransport):
    """The transport of one installation (or of the App itself): its pacer, its patience.

    `patience` is how many seconds one call may spend on waiting and repeating before the work is better put back into
    the queue; `api_version` goes with every request, whatever version githubkit's methods were generated for.
    Raises RateLimited with the seconds to wait, and Unavailable; and NotFound for a write to what has moved, since what
    was meant for one place must not be said in another: only reads follow, and those to the same server alone, since a
    redirect to another could lead into this machine's own network. Overtaken instead of a write for another's work.
    """

    def __init__(
        self,
        connections: httpx.BaseTransport,
        *,
        pacer: Pacer,
        server_clock: ServerClock,
        base_path: str,
        api_version: str,
        patience: float,
        monotonic: Callable[[], float],
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
    ) -> None:
        self._connections = connections
        self._pacer = pacer
        self._server_clock = server_clock
        self._base_path = base_path.rstrip("/")
        self._api_version = api_version
        self._patience = patience
        self._monotonic = monotonic
        self._sleep = sleep
        self._jitter = jitter

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request, as often as the limits and its nature allow."""
        path = request.url.path.removeprefix(self._base_path)
        cost = cost_of(request.method, path, request.url.params)
        present = hurry()
        patience = self._patience if present is None else min(self._patience, present.seconds)
        call = _Call(request, path, cost, self._monotonic() + patience, present)
        if present is not None:
            _shorten(request, present.seconds)
        request.headers["X-GitHub-Api-Version"] = self._api_version
        attempt = 0
        while True:
            self._wait_for_turn(call)
            tried = self._try(call, attempt)
            verdict = self._judge(call, tried, attempt)
            if not isinstance(verdict, Retry):
                return _result(call, tried, verdict)
            log.info("%s: %s; again in %.1f s", call.operation, _what(tried), verdict.after)
            # After a limit the pacer says when, to this thread as to all others.
            if verdict.limit is None:
                self._sleep(verdict.after)
            attempt += 1

    def _wait_for_turn(self, call: _Call) -> None:
        if call.hurry is not None and call.hurry.over.is_set():
            raise Unavailable(f"{call.operation}: nobody waits for it any more")
        while delay := self._pacer.take(call.cost):
            if call.hurry is not None or self._monotonic() + delay > call.deadline:
                raise RateLimited(_used_up(call), after=delay)
            self._sleep(delay)

    def _try(self, call: _Call, attempt: int) -> _Tried:
        """One attempt: an answer with its body, or why there is none."""
        if call.request.method not in _SAFE:
            make_sure()
        with GITHUB_SECONDS.labels(call.kind).time(), span("github", kind=call.kind, attempt=attempt + 1) as traced:
            tried = self._send(call.request)
            traced.set_attribute("status", tried.response.status_code if tried.response else 0)
        return tried

    def _send(self, request: httpx.Request) -> _Tried:
        try:
            response = self._connections.handle_request(request)
            response.read()
        except httpx.RequestError as failure:
            return _Tried(failure=failure)
        self._server_clock.observe(response.headers)
        return _Tried(response)

    def _judge(self, call: _Call, tried: _Tried, attempt: int) -> Verdict:
        """What is to be done about it; counted, and told to the pacer."""
        verdict = decide(
            _answer(tried.response, call.cost),
            attempt=attempt,
            repeatable=is_repeatable(call.request.method, call.path) or isinstance(tried.failure, _UNSENT),
            patience=call.deadline - self._monotonic(),
            now=self._server_clock.now(),
            resource=call.cost.resource,
            strikes=self._pacer.strikes(),
            jitter=self._jitter(),
        )
        limit = verdict.limit if isinstance(verdict, Retry | Raise) else None
        GITHUB_REQUESTS.labels(call.kind, _came_back(tried.response, limit)).inc()
        self._learn(call.cost, tried.response, limit)
        return verdict

    def _learn(self, cost: Cost, response: httpx.Response | None, limit: Limit | None) -> None:
        """Tell the pacer what the answer says about what is left."""
        if response is None:
            return
        if limit is not None:
            self._pacer.refused(limit)
        elif response.is_success:
            self._pacer.succeeded()
        if (left := quota(response.headers, self._server_clock.now())) is not None:
            self._pacer.learn(cost.resource, *left)
            GITHUB_REMAINING.labels(cost.resource).set(left[0])


def _result(call: _Call, tried: _Tried, verdict: Ok | Raise) -> httpx.Response:
    """The answer, or the error that stands for it."""
    response = tried.response
    if isinstance(verdict, Raise) and verdict.limit is not None:
        raise RateLimited(_used_up(call), after=verdict.limit.after)
    if isinstance(verdict, Raise) or response is None:
        raise Unavailable(f"{call.operation}: {_what(tried)}")
    if response.has_redirect_location and (call.request.method not in _SAFE or _leads_away(call.request.url, response)):
        raise NotFound(call.operation, response.status_code, "it has moved")
    return response


def _shorten(request: httpx.Request, seconds: float) -> None:
    """Give the server no more than so many seconds for each step of an answer."""
    told = request.extensions.get("timeout", {})
    limits = {step: min(seconds, told.get(step) or seconds) for step in ("connect", "read", "write", "pool")}
    request.extensions = {**request.extensions, "timeout": limits}


def _answer(response: httpx.Response | None, cost: Cost) -> Answer:
    if response is None:
        return Answer(0)
    matters = response.status_code >= 400 or cost.resource == GRAPHQL
    return Answer(response.status_code, response.headers, response.content if matters else b"")


def _leads_away(url: httpx.URL, response: httpx.Response) -> bool:
    """Whether a redirect is to another server than the one that was asked."""
    try:
        target = url.join(response.headers["location"])
    except httpx.InvalidURL:
        return True
    return (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port)


def _came_back(response: httpx.Response | None, limit: Limit | None) -> str:
    """What came back, in the words of the metric."""
    if response is None:
        return "unanswered"
    if limit is not None:
        return "limited"
    if response.status_code == 304:
        return "unchanged"
    return "ok" if response.status_code < 400 else "refused" if response.status_code < 500 else "failed"


def _used_up(call: _Call) -> str | Told:
    """A limit in words. That of searches stands in comments, where nobody knows GitHub's paths and resources."""
    if call.cost.resource in _SEARCHES:
        return _SEARCHES[call.cost.resource].of()
    return f"{call.operation}: GitHub's rate limit is used up for now"


def _what(tried: _Tried) -> str:
    """What went wrong, in words that hold no header: some of httpx's messages repeat the one that they object to."""
    failure = tried.failure
    if tried.response is not None:
        return f"GitHub answered {tried.response.status_code}"
    if isinstance(failure, httpx.TimeoutException):
        return "GitHub did not answer in time"
    if isinstance(failure, httpx.ConnectError):
        # It is OpenSSL's word, and httpx says no other way what went wrong.
        untrusted = "CERTIFICATE_VERIFY_FAILED" in str(failure)
        return "GitHub's certificate is not trusted here" if untrusted else "GitHub cannot be reached"
    return f"the connection failed ({type(failure).__name__})"


class ServerClock:
    """The host's clock, corrected by what GitHub last said. Thread safe: the correction is one assignment."""

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
        """Compare with the `Date` header of an answer that came just now; without one nothing changes."""
        try:
            date = parsedate_to_datetime(headers.get("date", "")).timestamp()
        except (TypeError, ValueError):
            return
        # The header is cut to whole seconds, on average half a second ago. Less than two seconds is no skew but that.
        skew = date + 0.5 - self._clock()
        self._skew = 0.0 if abs(skew) < 2 else skew
