"""`doppel serve` runs the whole bot on one machine; `doppel worker` and `doppel proxy` run one process each."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import click

from bot.app.cli.shared.parameters import PORT, web_address
from bot.domain.errors import SettingsError
from bot.platform import settings as host_settings
from bot.platform.counts import count_together
from bot.platform.local import check_address
from bot.platform.logs import as_log_line, configure_logging
from bot.platform.signals import cleanup_on_signal

_HOOK = "Tell GitHub to deliver to this address; not needed for a local simulator."


@click.command()
@click.option("--host", help="The address to listen on; 127.0.0.1 admits only this machine [default: DOPPEL_HOST].")
@click.option("--port", type=PORT, help="The port to listen on [default: PORT].")
@click.option("--webhook-url", metavar="URL", callback=web_address, help=_HOOK)
def serve(host: str | None, port: int | None, webhook_url: str | None) -> None:
    """Run web and worker together, until SIGTERM or Ctrl-C. A process that dies is started again.

    If no GitHub App is set up yet, this command prints the address of a page that creates one. With WEBHOOK_PROXY_URL
    set, deliveries are also fetched from that channel. Exit code 2: the port is taken, or a setting is missing. Exit
    code 3: a process keeps ending, and its last lines say why.
    """
    if host is not None and not host.strip():
        raise click.BadParameter("this is empty", param_hint="--host")
    given = {name: str(value) for name, value in {"DOPPEL_HOST": host, "PORT": port}.items() if value}
    settings = host_settings.load({**os.environ, **given})
    if not settings.new:  # Part of an App is set: require the rest. Otherwise the set-up page creates an App.
        settings.require_app()
    configure_logging(settings.log_level, settings.log_format)
    check_address(settings.host, settings.port)

    def say(text: str) -> None:
        click.echo(as_log_line(text, settings.log_format), err=True)

    # Until the supervisor in `run_web_and_worker` handles signals, a signal must end this command with exit code 0.
    with suppress(KeyboardInterrupt), cleanup_on_signal():
        # Before the import below, `count_together` sets the metrics folder: prometheus_client reads it when loaded.
        count_together(settings.home)
        from bot.app.wiring.web_and_worker import run_web_and_worker

        environ = {**os.environ, "DOPPEL_HOST": settings.host, "PORT": str(settings.port)}
        run_web_and_worker(settings, environ, webhook_url, say)


@click.command()
def worker() -> None:
    """Run a worker process until SIGTERM. Any number may run on one PostgreSQL database."""
    from prometheus_client import start_http_server

    from bot.app.wiring.clients import prepare_databases
    from bot.app.wiring.worker_process import build_services, job_handler, run_worker, scheduled_tasks
    from bot.interfaces.monitoring.exposition import process_metrics

    settings = host_settings.load()
    configure_logging(settings.log_level, settings.log_format)
    if settings.metrics_port:
        try:
            start_http_server(settings.metrics_port, settings.host, process_metrics())
        except OSError as problem:
            raise SettingsError(f"DOPPEL_METRICS_PORT: cannot listen there: {problem.strerror}.") from problem
    # Wait for another process's migration here, while SIGTERM still ends this process at once.
    prepare_databases(settings)
    services = build_services(settings)
    services.indexing.resume()
    run_worker(settings, job_handler(services), scheduled_tasks(services))


@click.command()
def proxy() -> None:
    """Pass deliveries from the channel WEBHOOK_PROXY_URL on to this machine's receiver, until Ctrl-C.

    `doppel serve` runs this process itself if that variable is set.
    """
    from bot.deliveries.proxy import forward

    settings = host_settings.load()
    if not settings.webhook_proxy_url:
        raise SettingsError(
            "WEBHOOK_PROXY_URL: not set. Open https://smee.io/new, set WEBHOOK_PROXY_URL to the address it leads to, "
            "and enter the same address as the webhook URL on the App's page."
        )
    if not settings.webhook_secrets:
        raise SettingsError("WEBHOOK_SECRET: not set; the receiver accepts only what is signed with it.")
    configure_logging(settings.log_level, settings.log_format)
    receiver = f"{settings.local_url}/webhook"
    try:
        forward(settings.webhook_proxy_url, receiver, settings.webhook_secrets, time.sleep)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
