"""How the web process runs under gunicorn: `gunicorn -c python:bot.gunicorn_conf 'bot.web:create_app()'`.

Shared by `Procfile` and `doppel serve`. gevent's worker class, because a request that never ends costs it next to
nothing: no thread waits for it. It takes half as many deliveries again as gunicorn's threads do (`bench.load`).
"""

import importlib
import sys
from typing import Any

from gunicorn.glogging import Logger

from bot.domain.errors import SettingsError
from bot.platform.counts import count_together
from bot.platform.local import check_address
from bot.platform.logs import configure_logging
from bot.platform.settings import load

_settings = load()

bind = _settings.bind
workers = _settings.web_concurrency
worker_class = "bot.deliveries.gunicorn_worker.Worker"
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


def on_starting(server: Any) -> None:
    """Load in the first process what its forks begin with, whose memory they share. Ends it where the port is taken."""
    try:
        check_address(_settings.host, _settings.port)
    except SettingsError as problem:
        sys.exit(str(problem))
    count_together(_settings.home)
    importlib.import_module("bot.web")
