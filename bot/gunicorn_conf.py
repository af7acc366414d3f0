"""How the web process runs under gunicorn: `gunicorn -c python:bot.gunicorn_conf 'bot.web:create_app()'`.

`Procfile` and `doppel serve` share this file. The worker class is gevent's: a request that never ends costs next to
nothing, because it occupies no thread. gevent accepts 50 % more deliveries than gunicorn's threads do (`bench.load`).
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

# Seconds within which a request's body must arrive; GitHub itself gives up after ten.
BODY_SECONDS = 10.0

_settings = load()

# gunicorn reads its settings here, by their names, such as `bind` and `worker_class`.
bind = _settings.bind
workers = _settings.web_concurrency
# Each process has its own socket. On a shared socket, the first process to wake would take a whole burst of requests.
reuse_port = True
# Seconds. GitHub's proxy reuses connections, so keep each one open for longer than most pauses between deliveries.
keepalive = 15
# Seconds. gunicorn kills a worker that hangs for `timeout`. After SIGTERM, requests may go on for `graceful_timeout`.
timeout = 20
graceful_timeout = 25
# Limit how much a stranger can make a process read before it answers.
limit_request_line = 4094
limit_request_fields = 64
accesslog = None
# Open no control socket in the user's home directory.
control_socket_disable = True
loglevel = _settings.log_level.lower()


class Log(Logger):
    """Sends gunicorn's log lines through our own logging; the workers inherit this setup."""

    def setup(self, cfg: Any) -> None:
        """Set up logging: called at the start, and again when the configuration is reloaded."""
        super().setup(cfg)
        configure_logging(_settings.log_level, _settings.log_format)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


logger_class = Log


class Worker(GeventWorker):
    """Waits only BODY_SECONDS for a request's body, and never quotes a malformed request."""

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> Any:
        """Handle a request whose headers have arrived. If its body is late, reading the body raises TimeoutError."""
        read, deadline = req.body.read, time.monotonic() + BODY_SECONDS

        def read_in_time(size: int | None = None) -> bytes:
            with Timeout(max(0.0, deadline - time.monotonic()), TimeoutError("the body did not arrive in time")):
                data: bytes = read(size)
                return data

        req.body.read = read_in_time
        return super().handle_request(listener_name, req, sock, addr)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer a malformed request with 400."""
        if not isinstance(exc, ParseException):
            super().handle_error(req, client, addr, exc)
            return
        log.warning("refused a malformed request: %s", type(exc).__name__, extra=OFTEN)
        with contextlib.suppress(OSError):
            util.write_error(client, 400, "Bad Request", "")


worker_class = Worker


def on_starting(server: Any) -> None:
    """Import the application before gunicorn forks, so that workers share its memory. Exits if the port is taken."""
    try:
        check_address(_settings.host, _settings.port)
    except SettingsError as problem:
        sys.exit(str(problem))
    # Have all workers count metrics in one folder.
    count_together(_settings.home)
    importlib.import_module("bot.web")
