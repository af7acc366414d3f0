"""How the web process runs under gunicorn: `gunicorn -c python:bot.gunicorn_conf 'bot.web:create_app()'`.

Shared by `Procfile` and `doppel serve`. Threads, because a thread that waits for the database's answer leaves the
processor to the others, and because only this worker class keeps connections alive (bench/receiver.py measures both).
gevent's takes little more than half as many deliveries.
"""

import importlib
from typing import Any

from gunicorn.glogging import Logger

from bot.receiver.slow_clients import Worker
from bot.settings import load
from bot.telemetry.counts import count_together
from bot.telemetry.logs import configure_logging

_settings = load()

bind = _settings.bind
workers = _settings.web_concurrency
worker_class = Worker
# Mostly idle, and begun only when needed: each waits for one sender (bot/receiver/slow_clients.py).
threads = 64
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
    """Load in the first process what its forks begin with, whose memory they share."""
    count_together(_settings.home)
    importlib.import_module("bot.web")
