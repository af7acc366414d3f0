"""gunicorn's gevent worker, with a time limit for bodies and a short answer to malformed requests."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import Any

from gevent import Timeout
from gunicorn import util
from gunicorn.http.errors import ParseException
from gunicorn.workers.ggevent import GeventWorker

from bot.platform.logs import OFTEN

log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds in which a body must arrive; GitHub itself gives up after as many."""


class Worker(GeventWorker):
    """gunicorn's own waits for a body without end, and quotes malformed requests in its answer and its log."""

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> Any:
        """Handle a request whose head has arrived. If its body is late, the application gets a TimeoutError."""
        read, until = req.body.read, time.monotonic() + PATIENCE

        def read_in_time(size: int | None = None) -> bytes:
            with Timeout(max(0.0, until - time.monotonic()), TimeoutError("the body did not arrive in time")):
                data: bytes = read(size)
                return data

        req.body.read = read_in_time
        return super().handle_request(listener_name, req, sock, addr)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer a malformed request with 400."""
        if not isinstance(exc, ParseException):
            super().handle_error(req, client, addr, exc)
            return
        log.warning("refused what is no request: %s", type(exc).__name__, extra=OFTEN)
        with contextlib.suppress(OSError):
            util.write_error(client, 400, "Bad Request", "")
