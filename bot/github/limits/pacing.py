"""Keeps requests below GitHub's limits.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api and …/rest/search/search. It counts those
that run out first: searches, and requests that create content. For all others GitHub's answers say when to pause.

Limits belong to an installation, so all its threads share one pacer. Each process has its own: GitHub's answers tell
what several have spent together.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.github.limits.answers import Limit

CORE = "core"
APP = "app"
SEARCH = "search"
HYBRID = "semantic_search"
GRAPHQL = "graphql"
CONTENT = "content"

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


class Pacer:
    """Says when a request may be sent. `clock` counts seconds and never goes back (`time.monotonic`). Thread safe.

    It counts in a sliding window: a bucket that refills would let twice its size through in one of GitHub's minutes.
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
        """Note how many requests of a resource GitHub allows for so many seconds more."""
        if remaining < 1:
            with self._lock:
                self._block(resource, seconds)

    def refused(self, limit: Limit) -> None:
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
