"""Staying below GitHub's limits: what a request counts for, and whether it is time for it.

From https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api and …/rest/search/search. What is used
up first is counted ahead: searches, and requests that create content. For all else GitHub's answers say when to pause.

Limits belong to an installation, so one pacer is shared by all threads that act for it. Each process has its own: what
several have spent together they learn from GitHub's answers.
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

# Requests are counted where they arrive, not where they leave: our minutes are a second longer than GitHub's.
_MINUTE = 61.0
_HOUR = 3601.0

LIMITS: Mapping[str, Sequence[tuple[int, float]]] = {
    SEARCH: ((30, _MINUTE),),
    HYBRID: ((10, _MINUTE),),
    CONTENT: ((80, _MINUTE), (500, _HOUR)),
}
"""Requests and seconds."""

_READING = ("GET", "HEAD", "OPTIONS")
# A new token, a label that is there already, a reaction given twice, a comment folded twice: GitHub ends in the same
# state. A second comment is a second comment, and a delivery asked for again is delivered again.
_REPEATABLE_POSTS = re.compile(r"(/api)?/graphql|/app/installations/\d+/access_tokens|/repos/.+/(labels|reactions)")


@dataclass(frozen=True, slots=True)
class Cost:
    """`resource` is the name of the primary limit (as in `x-ratelimit-resource`), `content` whether content is made."""

    resource: str
    content: bool = False


def cost_of(method: str, path: str, query: Mapping[str, str]) -> Cost:
    """What one request counts for. `path` is without the base path of an Enterprise server."""
    if path in ("/graphql", "/api/graphql"):
        return Cost(GRAPHQL)
    if path.startswith("/search/"):
        return Cost(HYBRID if query.get("search_type") in ("semantic", "hybrid") else SEARCH)
    if path.endswith("/access_tokens"):
        # The App asks for tokens, and out of its own budget, although it does so for an installation.
        return Cost(APP)
    # A redelivery, say, is a write, and puts nothing before people's eyes.
    return Cost(CORE, content=method not in (*_READING, "DELETE") and not path.startswith("/app/"))


def kind_of(method: str, cost: Cost) -> str:
    """What a request is, in a word: the limit that it counts for, and for the great rest reading or writing."""
    if cost.resource != CORE:
        return cost.resource
    return "read" if method in _READING else "write"


def is_repeatable(method: str, path: str) -> bool:
    """Whether doing it twice leaves GitHub as doing it once; only then may it be repeated after a time-out."""
    return method != "POST" or bool(_REPEATABLE_POSTS.fullmatch(path))


class Pacer:
    """Says when a request may be sent. `clock` counts seconds and never goes back (`time.monotonic`). Thread safe.

    There are never more in any stretch of time than `limits` allows. A bucket that refills would let twice its size
    through in one of GitHub's fixed minutes.
    """

    def __init__(self, clock: Callable[[], float], limits: Mapping[str, Sequence[tuple[int, float]]] = LIMITS) -> None:
        self._clock = clock
        # The latest moments, as many as are allowed, and the length of the stretch.
        self._windows = {
            name: [(deque[float](maxlen=most), seconds) for most, seconds in group] for name, group in limits.items()
        }
        self._blocked: dict[str | None, float] = {}
        self._strikes = 0
        self._lock = threading.Lock()

    def take(self, cost: Cost) -> float:
        """Pay for one request and return 0, or pay nothing and return the seconds after which to ask again.

        Nothing is reserved while waiting, so that a refusal in between holds for those who wait, too.
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
        """GitHub said that so many requests of a resource are left for so many seconds."""
        if remaining < 1:
            with self._lock:
                self._block(resource, seconds)

    def refused(self, limit: Limit) -> None:
        """GitHub answered with a limit: send nothing that it covers until its time is over.

        Refusals during a pause belong to its strike.
        """
        with self._lock:
            if not limit.told and not self._paused():
                self._strikes += 1
            self._block(limit.resource, limit.after)

    def strikes(self) -> int:
        """How many refusals that named no time came before the present one, without a success between."""
        with self._lock:
            return max(self._strikes - 1, 0) if self._paused() else self._strikes

    def succeeded(self) -> None:
        """A request went through: refusals that name no time start from the shortest pause again.

        What was under way when a pause began says nothing about the time after it.
        """
        with self._lock:
            if not self._paused():
                self._strikes = 0

    def _block(self, resource: str | None, seconds: float) -> None:
        """A shorter pause never shortens a longer one."""
        until = self._clock() + seconds
        self._blocked[resource] = max(until, self._blocked.get(resource, until))

    def _paused(self) -> bool:
        return self._blocked.get(None, float("-inf")) > self._clock()
