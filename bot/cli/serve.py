"""`doppel serve`: the whole bot on one machine with one command."""

from __future__ import annotations

import ipaddress
import time
from urllib.parse import urlsplit

import click
import requests

from bot import settings as host
from bot.errors import Unavailable
from bot.github.client import GitHub
from bot.logs import configure_logging
from bot.settings import Settings
from bot.supervisor import GUNICORN, WORKER, Supervisor

READY_WITHIN_SECONDS = 30.0


@click.command()
@click.option("--webhook-url", help="Tell GitHub to deliver to this address; done by itself for a local simulator.")
def serve(webhook_url: str | None) -> None:
    """Run web and worker together, until SIGTERM or Ctrl-C. What dies is started again."""
    # Building clients and stores takes a second to import, which `doppel --help` need not pay.
    from bot.wiring import build_github, prepare_databases

    settings = host.load().require_app()
    configure_logging(settings.log_level)
    prepare_databases(settings)
    supervisor = Supervisor({"web": GUNICORN, "worker": WORKER})
    supervisor.start()
    try:
        local = f"http://127.0.0.1:{settings.port}"
        _wait_until_ready(supervisor, f"{local}/readyz")
        click.echo(f"Doppel takes deliveries at {local}/webhook", err=True)
        address = webhook_url or (f"{local}/webhook" if is_local(settings) else None)
        if address:
            _deliver_to(build_github(settings), address)
        supervisor.run()
    finally:
        supervisor.stop()


def is_local(settings: Settings) -> bool:
    """Whether GitHub is this machine itself, as only a simulator can be."""
    name = urlsplit(settings.github_api_url).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _deliver_to(github: GitHub, address: str) -> None:
    github.app().update_hook_config(url=address)
    click.echo(f"GitHub delivers to {address}", err=True)


def _wait_until_ready(supervisor: Supervisor, url: str) -> None:
    end = time.monotonic() + READY_WITHIN_SECONDS
    while time.monotonic() < end:
        supervisor.check(time.monotonic())
        try:
            if requests.get(url, timeout=2).ok:
                return
        except requests.RequestException:
            pass
        time.sleep(0.1)
    raise Unavailable(f"the web process does not answer at {url} after {READY_WITHIN_SECONDS:.0f} s")
