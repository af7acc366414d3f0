"""The web process's worker, which does not wait for ever for the rest of a request.

A worker has few threads, and gunicorn's waits in one of them until a request is there, however long that takes, and
five seconds for its first byte: a handful of strangers' connections that announce a body and send none, or some hundred
that send nothing at all, would keep all deliveries out.
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any

from gunicorn.workers import gthread

# Seconds that a new connection has for its first byte, which mostly comes right behind it, before the thread goes on to
# the next; the worker's one loop then waits for it together with all the others.
_GLANCE = 0.02

PATIENCE = 10.0
"""Seconds in which a request has to arrive: after as many GitHub itself gives a delivery up."""


class Worker(gthread.ThreadWorker):
    """gunicorn's worker with threads; what has not arrived in time is read no further, as if the sender had hung up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._begun: dict[Any, float] = {}

    def handle(self, conn: Any) -> Any:
        """One request of a connection, in a thread."""
        # Older versions of gunicorn leave all waiting to the loop.
        later = getattr(gthread, "_DEFER", None)
        if later is not None and not conn.initialized and not conn.wait_for_data(_GLANCE):
            return later
        self._begun[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            self._begun.pop(conn, None)

    def notify(self) -> None:
        """Called by the loop that waits for connections, once a second or more often."""
        super().notify()
        latest = time.monotonic() - PATIENCE
        for conn, begun in self._begun.copy().items():
            if begun < latest:
                # Only reading ends: a request that is there and takes long to be answered still gets its answer.
                with contextlib.suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RD)
