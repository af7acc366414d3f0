"""Makes requests fail when a test wants it. A client must survive these failures.

sim.faults.add("GET /repos/*/issues/*", status=502, times=2)
sim.faults.add("POST /repos/*/comments", "timeout_after_write")
sim.faults.add("/search/issues", "incomplete_results", times=None)
"""

from __future__ import annotations

import fnmatch
import random
import threading
from dataclasses import dataclass, field
from typing import Literal, get_args

Kind = Literal[
    "status",
    "timeout",
    "timeout_after_write",
    "slow",
    "reset",
    "reset_after_write",
    "secondary_limit",
    "unresolved",
    "incomplete_results",
    "hybrid_unavailable",
    "malformed",
    "graphql_error",
]
# These faults strike after the request was carried out: only the answer goes wrong.
AFTER = frozenset(
    {
        "timeout_after_write",
        "reset_after_write",
        "malformed",
        "incomplete_results",
        "hybrid_unavailable",
        "graphql_error",
    }
)


@dataclass(slots=True, eq=False)
class Fault:
    """One failure (see `Faults.add`). `times` counts down. Without `retry_after`, the answer has no `Retry-After`."""

    pattern: str
    kind: Kind
    status: int
    times: int | None
    probability: float
    retry_after: int | None
    seconds: float
    hits: int = 0
    rng: random.Random = field(default_factory=random.Random)
    # Set once a `slow` fault is released.
    released: threading.Event = field(default_factory=threading.Event)

    def let_go(self) -> None:
        """Release the requests that a `slow` fault holds, and no longer hold later ones."""
        self.released.set()


class Faults:
    """The failures that wait for a request. Thread safe. `requests` counts the requests passed to `take`."""

    def __init__(self) -> None:
        self.requests = 0
        self._lock = threading.Lock()
        self._faults: list[Fault] = []

    def add(
        self,
        pattern: str = "*",
        status: int | Kind = 502,
        *,
        times: int | None = 1,
        probability: float = 1.0,
        seed: int = 0,
        code: int = 403,
        retry_after: int | None = None,
        seconds: float = 60.0,
    ) -> Fault:
        """Make requests fail if their `METHOD /path` matches the pattern (shell wildcards; `*` also spans slashes).

        A pattern without a method matches all methods. `status` is an HTTP status or one of the kinds above. For a
        `secondary_limit`, `code` is the HTTP status (403, 422 or 429, for GraphQL also 200). A `graphql_error` always
        has HTTP status 200. There, `code=200` replaces the answer's data with null, and any other `code` keeps the
        data. With `unresolved`, the answer claims that an existing issue does not exist, as GitHub sometimes does. The
        fault strikes a matching request with `probability` (random numbers from `seed`), and strikes `times` requests
        at most (None: no limit). A time-out holds the connection for `seconds` unless the client hangs up; a `slow`
        answer comes `seconds` late unless it is released. Returns the fault, whose `hits` counts the requests it
        struck. Raises ValueError for unusable arguments.
        """
        kind: Kind = "status" if isinstance(status, int) else status
        if kind not in get_args(Kind):
            raise ValueError(f"{kind!r} is not one of {', '.join(get_args(Kind))}")
        if not (times is None or (type(times) is int and times >= 0)):
            raise ValueError(f"times is {times!r}; give a number of requests, or None for no limit")
        for name, value in (("probability", probability), ("seconds", seconds), ("retry_after", retry_after or 0)):
            if not isinstance(value, int | float):
                raise ValueError(f"{name} is {value!r}, which is not a number")
        if " " not in pattern:
            pattern = f"* {pattern}"
        http_status = status if isinstance(status, int) else code
        fault = Fault(pattern, kind, http_status, times, probability, retry_after, seconds)
        fault.rng.seed(seed)
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear(self) -> None:
        """Let everything work again."""
        with self._lock:
            for fault in self._faults:
                fault.let_go()
            self._faults.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The fault that strikes this request, if any. Counts down its `times`."""
        request = f"{method} {path}"
        with self._lock:
            self.requests += 1
            for fault in self._faults:
                if fault.times == 0 or not fnmatch.fnmatchcase(request, fault.pattern):
                    continue
                if fault.probability < 1 and fault.rng.random() >= fault.probability:
                    continue
                fault.hits += 1
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None
