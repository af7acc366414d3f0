"""Conditional requests (T6): reuse a cached answer if GitHub confirms by its ETag that nothing has changed.

A confirmation (304) does not count towards the primary limit. Only a token that may read the answer gets a 304.
https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api, "Use conditional requests"
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from bot.platform.metrics import CACHE

MOST_KEPT = 16 << 20
"""The most bytes that the bodies of all cached responses take together."""


@dataclass(frozen=True, slots=True)
class CachedResponse:
    headers: Mapping[str, str]
    body: bytes


class ETagCache:
    """Caches responses by account and request, up to `most` bytes; drops the least recently used first. Thread safe."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._size = 0
        self._answers: OrderedDict[tuple[str, str], CachedResponse] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, account: str, key: str) -> CachedResponse | None:
        with self._lock:
            if (found := self._answers.get((account, key))) is not None:
                self._answers.move_to_end((account, key))
            return found

    def put(self, account: str, key: str, answer: CachedResponse) -> None:
        with self._lock:
            if (replaced := self._answers.pop((account, key), None)) is not None:
                self._size -= len(replaced.body)
            self._answers[account, key] = answer
            self._size += len(answer.body)
            while self._size > self._most:
                self._size -= len(self._answers.popitem(last=False)[1].body)


LARGEST_BODY = 256 * 1024
"""The most bytes in the body of a cached response."""
_LONGEST_KEY = 1_000

# The bot often reads a repository, its files and labels, and an issue, which seldom change. Do not cache searches and
# lists of issues, which change all the time.
_CACHED_PATHS = re.compile(r"/repos/[^/]+/[^/]+(?:/contents(?:/.*)?|/labels|/issues/[0-9]+)?")
_CACHED_HEADERS = ("content-type", "etag", "link", "last-modified")


class ConditionalTransport(httpx.BaseTransport):
    """Sends requests through `inner`. If `cache` has a response for the `account`, the request becomes conditional."""

    def __init__(self, inner: httpx.BaseTransport, cache: ETagCache, *, account: str, base_path: str) -> None:
        self._inner = inner
        self._cache = cache
        self._account = account
        self._base_path = base_path.rstrip("/")

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. A cached response looks like a response that GitHub has just sent."""
        key = self._cache_key(request)
        known = self._cache.get(self._account, key) if key else None
        if known is not None:
            request.headers["If-None-Match"] = known.headers["etag"]
        response = self._inner.handle_request(request)
        if known is not None:
            # A redirect would send the header to another address, whose 304 would mean nothing here.
            del request.headers["If-None-Match"]
        if key:
            CACHE.labels("hit" if response.status_code == 304 else "miss").inc()
        if known is not None and response.status_code == 304:
            # Take the limits and the time from the new answer.
            new = {name: value for name, value in response.headers.items() if name.startswith("x-") or name == "date"}
            return httpx.Response(200, headers={**new, **known.headers}, content=known.body)
        if key and response.status_code == 200 and response.headers.get("etag"):
            body = response.read()
            if len(body) <= LARGEST_BODY and _is_whole(body):
                headers = {name: response.headers[name] for name in _CACHED_HEADERS if name in response.headers}
                self._cache.put(self._account, key, CachedResponse(headers, body))
        return response

    def _cache_key(self, request: httpx.Request) -> str:
        """The key of a request in the cache; empty if its answer is never cached, or the caller sends an ETag."""
        path = request.url.path.removeprefix(self._base_path)
        if request.method != "GET" or not _CACHED_PATHS.fullmatch(path) or "If-None-Match" in request.headers:
            return ""
        # The key includes `Accept`, because the answer depends on it.
        key = f"{request.url} {request.headers.get('Accept', '')}"
        return key if len(key) <= _LONGEST_KEY else ""


def _is_whole(body: bytes) -> bool:
    """Whether `body` is complete JSON. An answer that was cut off must not be cached."""
    try:
        json.loads(body)
    except ValueError:
        return False
    return True
