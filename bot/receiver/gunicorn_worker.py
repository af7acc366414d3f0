"""gunicorn's gevent worker, which refuses quietly what is no request."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

from gunicorn import util
from gunicorn.http.errors import ParseException
from gunicorn.workers.ggevent import GeventWorker

from bot.telemetry.logs import OFTEN

log = logging.getLogger(__name__)


class Worker(GeventWorker):
    """gunicorn repeats what was sent, in its answer and in its log."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer a malformed request with 400, and say so seldom."""
        if not isinstance(exc, ParseException):
            super().handle_error(req, client, addr, exc)
            return
        log.warning("refused what is no request: %s", type(exc).__name__, extra=OFTEN)
        with contextlib.suppress(OSError):
            util.write_error(client, 400, "Bad Request", "")
