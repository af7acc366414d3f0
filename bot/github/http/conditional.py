"""Conditional requests (T6): what was answered before comes from memory where GitHub says that it has not changed.

GitHub is asked each time, with the ETag of the earlier answer. A 304 costs nothing of the primary limit, and only a
token that may read the thing now gets it.
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

from bot.telemetry.metrics import CACHE

MOST_KEPT = 16 << 20
"""Bytes of all answers together; those go first that were asked for least recently."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """An answer as it was: the headers that a reader needs, and the body."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def etag(self) -> str:
        """By which GitHub knows it."""
        return self.headers["etag"]


class Memory:
    """Answers by account and URL, up to `most` bytes. Thread safe."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._size = 0
        self._answers: OrderedDict[tuple[str, str], Remembered] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, account: str, url: str) -> Remembered | None:
        """The answer that was last kept."""
        with self._lock:
            if (found := self._answers.get((account, url))) is not None:
                self._answers.move_to_end((account, url))
            return found

    def put(self, account: str, url: str, answer: Remembered) -> None:
        """Keep an answer in place of the one before."""
        with self._lock:
            if (before := self._answers.pop((account, url), None)) is not None:
                self._size -= len(before.body)
            self._answers[account, url] = answer
            self._size += len(answer.body)
            while self._size > self._most:
                self._size -= len(self._answers.popitem(last=False)[1].body)


LARGEST_KEPT = 256 * 1024
"""Bytes of the largest answer that is kept."""
_LONGEST_URL = 1_000

# What is read again and again and seldom changes: a repository, its files and labels, and an issue. Lists of issues and
# comments, and searches, change all the time.
_KEPT = re.compile(r"/repos/[^/]+/[^/]+(?:/contents(?:/.*)?|/labels|/issues/[0-9]+)?")
_HEADERS = ("content-type", "etag", "link", "last-modified")


class ConditionalTransport(httpx.BaseTransport):
    """Asks `inner` conditionally where `memory` holds an answer. `account` is whose token the requests carry."""

    def __init__(self, inner: httpx.BaseTransport, memory: Memory, *, account: str, base_path: str) -> None:
        self._inner = inner
        self._memory = memory
        self._account = account
        self._base_path = base_path.rstrip("/")

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the answer to an unchanged thing looks as if it had been sent anew."""
        url = self._url(request)
        known = self._memory.get(self._account, url) if url else None
        if known is not None:
            request.headers["If-None-Match"] = known.etag
        response = self._inner.handle_request(request)
        if known is not None:
            # A redirect takes the request's headers along, and a 304 to what it leads to would mean nothing here.
            del request.headers["If-None-Match"]
        if url:
            CACHE.labels("hit" if response.status_code == 304 else "miss").inc()
        if known is not None and response.status_code == 304:
            # What GitHub says of limits and time is new with each answer.
            new = {name: value for name, value in response.headers.items() if name.startswith("x-") or name == "date"}
            return httpx.Response(200, headers={**new, **known.headers}, content=known.body)
        if url and response.status_code == 200 and response.headers.get("etag"):
            body = response.read()
            if len(body) <= LARGEST_KEPT and _is_whole(body):
                kept = {name: response.headers[name] for name in _HEADERS if name in response.headers}
                self._memory.put(self._account, url, Remembered(kept, body))
        return response

    def _url(self, request: httpx.Request) -> str:
        """What is asked for; empty for what is not kept, and where the caller has an ETag of their own."""
        path = request.url.path.removeprefix(self._base_path)
        if request.method != "GET" or not _KEPT.fullmatch(path) or "If-None-Match" in request.headers:
            return ""
        # GitHub answers in the form that is accepted.
        url = f"{request.url} {request.headers.get('Accept', '')}"
        return url if len(url) <= _LONGEST_URL else ""


def _is_whole(body: bytes) -> bool:
    """Whether this is JSON, as all that is kept: what was cut off on its way would be cut off as long as it is true."""
    try:
        json.loads(body)
    except ValueError:
        return False
    return True
