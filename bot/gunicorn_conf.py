"""How the web process runs under gunicorn: `gunicorn -c python:bot.gunicorn_conf 'bot.web:create_app()'`.

Shared by `Procfile` and `doppel serve`. gevent's worker class, because a request that never ends costs it next to
nothing: no thread waits for it. It takes half as many deliveries again as gunicorn's threads do (`bench.load`).
"""

import contextlib
import importlib
import logging
import sys
import time
from typing import Any

from gevent import Timeout
from gunicorn import util
from gunicorn.glogging import Logger
from gunicorn.http.errors import ParseException
from gunicorn.workers.ggevent import GeventWorker

from bot.domain.errors import SettingsError
from bot.platform.counts import count_together
from bot.platform.local import check_address
from bot.platform.logs import OFTEN, configure_logging
from bot.platform.settings import load

log = logging.getLogger(__name__)

# Seconds in which a body must arrive; GitHub itself gives up after as many.
BODY_SECONDS = 10.0

_settings = load()

bind = _settings.bind
workers = _settings.web_concurrency
# Each process listens for itself, or the first to wake would take all connections that come together.
reuse_port = True
# GitHub's proxy keeps connections; a little longer than the usual pause between two deliveries of one event.
keepalive = 15
# GitHub gives up after ten seconds, so nothing is gained by working longer than twice that.
timeout = 20
graceful_timeout = 25
# Bounds what a stranger can make a process read before it answers.
limit_request_line = 4094
limit_request_fields = 64
accesslog = None
# Nobody manages the process through a socket in somebody's home directory.
control_socket_disable = True
loglevel = _settings.log_level.lower()


class Log(Logger):
    """Gunicorn's lines go where ours go, in the same form; the workers inherit this."""

    def setup(self, cfg: Any) -> None:
        """At the start, and again when the configuration is reloaded."""
        super().setup(cfg)
        configure_logging(_settings.log_level, _settings.log_format)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


logger_class = Log


class Worker(GeventWorker):
    """gunicorn's own waits for a body without end, and quotes malformed requests in its answer and its log."""

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> Any:
        """Handle a request whose head has arrived. If its body is late, the application gets a TimeoutError."""
        read, until = req.body.read, time.monotonic() + BODY_SECONDS

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


worker_class = Worker


def on_starting(server: Any) -> None:
    """Load in the first process what its forks begin with, whose memory they share. Ends it where the port is taken."""
    try:
        check_address(_settings.host, _settings.port)
    except SettingsError as problem:
        sys.exit(str(problem))
    count_together(_settings.home)
    importlib.import_module("bot.web")
