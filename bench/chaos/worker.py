"""`doppel worker` as it is, with what a chaos run needs: shorter waits, a clock that jumps, poison, and sabotage.

The run says in environment variables what it wants; none of them is one of Doppel's settings.
"""

from __future__ import annotations

import datetime
import functools
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

LEASE, TIMEOUT, FIRST_WAIT, LOOK_EVERY = 6.0, 2.0, 0.5, 5.0
"""Seconds: of a write without an answer (35), for an answer of GitHub's (10), before a second try (10), between two
looks for failed deliveries (300)."""
RENEW_EVERY, HELD = 1.0, 5.0
"""Seconds: between two renewals of the leases (5), and without one until they are lost (30)."""

SHORT, CLOCK, POISON, SABOTAGE = "CHAOS_SHORT_WAITS", "CHAOS_CLOCK", "CHAOS_POISON", "CHAOS_SABOTAGE"
WRITES = "CHAOS_WRITES"
"""Names the file of `Write`s."""
RAISES, KILLS = "poison-that-raises", "poison-that-kills"
"""Logins whose issues cannot be handled as long as the file that POISON names is there."""


class Write(NamedTuple):
    """A write to GitHub under a job's lease, which was checked `at` the machine's monotonic time."""

    token: str
    job: str
    at: float


def writes(file: Path) -> list[Write]:
    """All writes so far."""
    return [Write(*json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


class _Clock:
    """The machine's clock, moved by as many seconds as a file says; every caller sees it jump."""

    def __init__(self, file: Path) -> None:
        self._file, self._read_at, self._offset = file, 0.0, 0.0
        self._time = time.time

    def __call__(self) -> float:
        now = time.monotonic()
        if now - self._read_at > 0.05:
            self._read_at = now
            try:
                self._offset = float(self._file.read_text() or 0)
            except (OSError, ValueError):
                self._offset = 0.0
        return self._time() + self._offset


def main() -> None:
    """Arrange all of it, before anything of the bot's is imported, and run the worker."""
    if file := os.environ.get(CLOCK):
        clock = _Clock(Path(file))
        time.time = clock
        time.time_ns = lambda: int(clock() * 1e9)

        class Moved(datetime.datetime):
            @classmethod
            def now(cls, tz: datetime.tzinfo | None = None) -> Any:
                return datetime.datetime.fromtimestamp(clock(), tz)

    from bot.app import cli
    from bot.app.wiring import clients
    from bot.app.wiring import worker_process as worker
    from bot.conversation import comments
    from bot.deliveries import queue
    from bot.deliveries import worker as jobs_worker
    from bot.github import transport
    from bot.github.client import GitHub
    from handlers.scheduled import redelivery

    if file:
        clients.datetime = Moved  # type: ignore[attr-defined]
    if os.environ.get(SHORT):
        writer = functools.partial(comments.CommentWriter, lease=LEASE)
        worker.CommentWriter = writer  # type: ignore[assignment,attr-defined]
        clients.GitHub = functools.partial(GitHub, timeout=TIMEOUT)  # type: ignore[assignment,attr-defined]
        worker.RECOVER_EVERY = LOOK_EVERY  # type: ignore[attr-defined]
        queue._FIRST_WAIT, queue._GROWTH = FIRST_WAIT, 2.0
        redelivery.FIRST_WAIT = LOOK_EVERY
        queue.LEASE = HELD
        jobs_worker.RENEW_EVERY = RENEW_EVERY
    if os.environ.get(SABOTAGE) == "marker":
        _forget_claims()
    if os.environ.get(SABOTAGE) == "lease":
        transport.check_lease = lambda *_: None  # type: ignore[attr-defined]
    if file := os.environ.get(WRITES):
        _note_writes(Path(file))
    worker.job_handler = _poisoned(worker.job_handler)
    cli.main(["worker"])


def _note_writes(file: Path) -> None:
    import httpx

    from bot.github import transport
    from bot.platform import lease

    check, send, checked = transport.check_lease, httpx.HTTPTransport.handle_request, threading.local()  # type: ignore[attr-defined]

    def check_now(*trusted: float) -> None:
        checked.at = time.monotonic()
        check(*trusted)

    def noted(connections: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        held = lease._lease.get()
        # Whoever takes its own late comment away does so without a lease.
        if request.method not in ("GET", "HEAD") and isinstance(held and held.is_held, functools.partial):
            (job,) = held.is_held.args  # type: ignore[union-attr]
            with file.open("a") as lines:
                lines.write(json.dumps(Write(job.claim.token, job.claim.id, checked.at)) + "\n")
        return send(connections, request)

    transport.check_lease = check_now  # type: ignore[assignment,attr-defined]
    httpx.HTTPTransport.handle_request = noted  # type: ignore[assignment,method-assign]


def _forget_claims() -> None:
    """Break what makes a repeated attempt safe: nobody remembers or looks whether a comment is already there."""
    from bot.conversation.comments import CommentWriter
    from bot.storage.comments import ClaimOutcome, Comments

    claim, settle = Comments.claim, Comments.settle

    def always_clear(store: Comments, *where: int, now: float, lease: float) -> ClaimOutcome:
        claim(store, *where, now=now, lease=lease)
        return ClaimOutcome.CLEAR

    def whoever_wrote_last(store: Comments, *where: int, since: float, **known: Any) -> bool:
        kept = store.get(*where)
        return settle(store, *where, since=since if kept is None else kept.updated_at, **known)

    Comments.claim = always_clear  # type: ignore[assignment,method-assign]
    Comments.renew = lambda *_, **__: True  # type: ignore[method-assign]
    Comments.settle = whoever_wrote_last  # type: ignore[assignment,method-assign]
    CommentWriter._find = lambda *_: None  # type: ignore[method-assign]


def _poisoned(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(services: Any) -> Callable[[Any], None]:
        handle = make(services)
        there = Path(os.environ.get(POISON, "/nonexistent"))

        def work(job: Any) -> None:
            author = getattr(getattr(job.event, "author", None), "login", "")
            if author in (RAISES, KILLS) and there.exists():
                if author == KILLS:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise ValueError("a payload that nobody can read")
            handle(job)

        return work

    return made


if __name__ == "__main__":
    main()
