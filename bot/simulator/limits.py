"""Rate limits.

All limits are per caller. Primary: 5,000 requests an hour, 30 lexical and 10 semantic or hybrid searches a minute.
Secondary: 100 requests at once, 900 points a minute in REST and 2,000 in GraphQL (a read costs 1, a write 5),
80 content-creating requests a minute and 500 an hour.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict, deque
from dataclasses import dataclass

from bot.simulator.clock import Clock
from bot.simulator.errors import ApiError

DOCS = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
HOUR, MINUTE = 3600.0, 60.0


@dataclass(slots=True)
class Bucket:
    """A caller's primary limit of one resource, in a window from the first request to `reset` (Unix time)."""

    limit: int
    used: int = 0
    reset: float = 0.0


class Limits:
    """Counts each caller's requests. `caller` is a `Caller.key` such as `user:7`. Tests can change every limit."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, str], Bucket] = {}
        self._points: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)
        self._created: defaultdict[str, deque[float]] = defaultdict(deque)
        self._running: defaultdict[str, int] = defaultdict(int)
        self.enabled = True
        self.exempt_users = False
        # Resource → number of requests, and the seconds of its window.
        self.primary = {
            "core": (5_000, HOUR),
            "graphql": (5_000, HOUR),
            "search": (30, MINUTE),
            "semantic_search": (10, MINUTE),
            "integration_manifest": (5_000, HOUR),
        }
        # Callers with other hourly limits: caller → requests an hour, instead of every hourly limit in `primary`.
        self.others: dict[str, int] = {}
        # Callers without a token: requests an hour, and searches a minute.
        self.anonymous = 60
        self.anonymous_searches = 10
        self.concurrent = 100
        self.points_per_minute = {"core": 900, "graphql": 2_000}
        self.creations_per_minute = 80
        self.creations_per_hour = 500

    def applies(self, caller: str) -> bool:
        """Whether this caller is counted. `enabled = False` exempts all, `exempt_users` exempts users with a token."""
        return self.enabled and not (self.exempt_users and caller.startswith("user:"))

    def spend(self, caller: str, resource: str) -> None:
        """Count one request; 403 if the caller's budget for the resource is used up."""
        if not self.applies(caller):
            return
        with self._lock:
            bucket = self._bucket(caller, resource)
            if bucket.used >= bucket.limit:
                who = caller.replace(":", " ID ")
                raise ApiError(403, f"API rate limit exceeded for {who}.", documentation=DOCS)
            bucket.used += 1

    def refund(self, caller: str, resource: str) -> None:
        """Take back one request: a 304 answer is free."""
        if self.applies(caller):
            with self._lock:
                bucket = self._bucket(caller, resource)
                bucket.used = max(0, bucket.used - 1)

    def enter(self, caller: str, resource: str, points: int) -> None:
        """Begin a request; 403 with `retry-after` if a secondary limit forbids it. Pair with `leave`."""
        if not self.applies(caller):
            return
        now = self._clock.timestamp()
        with self._lock:
            spent = self._points[f"{caller} {resource}"]
            while spent and spent[0][0] <= now - MINUTE:
                spent.popleft()
            allowed = self.points_per_minute.get(resource, 900)
            if self._running[caller] >= self.concurrent:
                raise secondary_limit(1)
            if sum(cost for _, cost in spent) + points > allowed:
                raise secondary_limit(max(1, math.ceil(spent[0][0] + MINUTE - now)))
            spent.append((now, points))
            self._running[caller] += 1

    def leave(self, caller: str) -> None:
        """End a request that `enter` admitted."""
        if self.applies(caller):
            with self._lock:
                self._running[caller] = max(0, self._running[caller] - 1)

    def create(self, caller: str) -> None:
        """Count a content-creating request; 403 with `retry-after` after too many."""
        if not self.applies(caller):
            return
        now = self._clock.timestamp()
        with self._lock:
            made = self._created[caller]
            while made and made[0] <= now - HOUR:
                made.popleft()
            if len(made) >= self.creations_per_hour:
                raise secondary_limit(math.ceil(made[0] + HOUR - now), creation=True)
            last_minute = [moment for moment in made if moment > now - MINUTE]
            if len(last_minute) >= self.creations_per_minute:
                raise secondary_limit(math.ceil(last_minute[0] + MINUTE - now), creation=True)
            made.append(now)

    def state(self, caller: str, resource: str) -> dict[str, int]:
        """Limit, remaining, used and reset (seconds since 1970) of one resource."""
        with self._lock:
            bucket = self._bucket(caller, resource)
            used = min(bucket.used, bucket.limit)
            reset = math.ceil(bucket.reset)
            return {"limit": bucket.limit, "remaining": bucket.limit - used, "used": used, "reset": reset}

    def headers(self, caller: str, resource: str) -> dict[str, str]:
        """The `x-ratelimit-*` headers of an answer."""
        named = {f"x-ratelimit-{name}": str(value) for name, value in self.state(caller, resource).items()}
        return named | {"x-ratelimit-resource": resource}

    def _bucket(self, caller: str, resource: str) -> Bucket:
        limit, window = self.primary[resource]
        if window == HOUR:
            limit = self.others.get(caller, limit)
        if caller.startswith("ip:"):
            limit = {"core": self.anonymous, "search": self.anonymous_searches}.get(resource, limit)
        now = self._clock.timestamp()
        bucket = self._buckets.setdefault((caller, resource), Bucket(limit))
        bucket.limit = limit
        if now >= bucket.reset:
            bucket.used, bucket.reset = 0, now + window
        return bucket


TOO_QUICK = "was submitted too quickly"


def secondary_limit(retry_after: int | None, *, status: int = 403, creation: bool = False) -> ApiError:
    """The refusal of a secondary limit. Without `retry_after`, the header is missing, as in some of GitHub's answers.

    With `status` 200 it is GraphQL's answer. With 422 it is REST's answer to a client that comments too quickly: REST
    creates comments by a GraphQL mutation, and passes on the mutation's error (https://github.com/cli/cli/issues/4801).
    """
    if status == 422:
        error = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": TOO_QUICK}
        return ApiError(422, "Validation Failed", errors=[error])
    message = "You have exceeded a secondary rate limit"
    if creation:
        message += " and have been temporarily blocked from content creation"
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    message += ". Please retry your request again later."
    refusal = ApiError(status, message, headers=headers, documentation=f"{DOCS}#about-secondary-rate-limits")
    if status == 200:
        refusal.body = {"errors": [{"message": message}]}
    return refusal
