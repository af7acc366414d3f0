"""The web process's worker: no request that does not end keeps others out, and what is no request is refused quietly.

gunicorn waits in a thread until a request is there, however long that takes. So there are more threads than requests
are worked on at a time, each sender has a bounded time, and a short one while all threads wait for senders. There is no
bound on the connections of one address: behind a proxy, all have one.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Iterator
from typing import Any

from gunicorn import util
from gunicorn.http.errors import ParseException
from gunicorn.workers import gthread

from bot.telemetry.logs import OFTEN

log = logging.getLogger(__name__)

GLANCE = 0.02
"""Seconds that a new connection has for its first byte, which mostly comes right behind it, before the thread goes on
to the next; the worker's one loop then waits for it together with all the others."""

PATIENCE = 10.0
"""Seconds in which a request has to arrive: after as many GitHub itself gives a delivery up."""

HASTE = 1.0
"""The same while every thread waits for a sender. A delivery arrives within milliseconds."""


class Worker(gthread.ThreadWorker):
    """gunicorn's worker with threads; what has not arrived in time is read no further, as if the sender had hung up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # When each request began, as long as its thread waits for more of it.
        self._awaited: dict[Any, float] = {}

    def init_process(self) -> None:
        """Here alone; versions of gunicorn that leave all waiting to the loop do not know this name."""
        gthread.DEFAULT_WORKER_DATA_TIMEOUT = GLANCE  # type: ignore[misc]
        super().init_process()

    def handle(self, conn: Any) -> Any:
        """One request of a connection, in a thread."""
        with self._awaiting(conn, time.monotonic()):
            return super().handle(conn)

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Its head is there: only while the application reads the body, the sender is waited for again."""
        begun, read = self._awaited.pop(conn, time.monotonic()), req.body.read

        def read_in_time(size: int | None = None) -> bytes:
            with self._awaiting(conn, begun):
                data: bytes = read(size)
                return data

        req.body.read = read_in_time
        return super().handle_request(req, conn)

    def notify(self) -> None:
        """Called by the loop that waits for connections, once a second or more often."""
        super().notify()
        awaited = self._awaited.copy()
        latest = time.monotonic() - (HASTE if len(awaited) >= self.cfg.threads else PATIENCE)
        for conn, begun in awaited.items():
            if begun < latest:
                # Only reading ends, so that the sender can still be told.
                with contextlib.suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RD)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Refuse what is no request without repeating any of it, neither in the answer nor in the log."""
        if not isinstance(exc, ParseException):
            super().handle_error(req, client, addr, exc)
            return
        log.warning("refused what is no request: %s", type(exc).__name__, extra=OFTEN)
        with contextlib.suppress(OSError):
            util.write_error(client, 400, "Bad Request", "")

    @contextlib.contextmanager
    def _awaiting(self, conn: Any, begun: float) -> Iterator[None]:
        self._awaited[conn] = begun
        try:
            yield
        finally:
            # A connection that is kept alive can have begun its next request, in another thread.
            if self._awaited.get(conn) == begun:
                self._awaited.pop(conn, None)
