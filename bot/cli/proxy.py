"""`doppel proxy`: deliveries through a channel, for a host without a public address."""

from __future__ import annotations

import time

import click

from bot import settings as host
from bot.errors import SettingsError
from bot.receiver import proxy as channel
from bot.telemetry.logs import configure_logging


@click.command()
def proxy() -> None:
    """Pass on what comes through the channel WEBHOOK_PROXY_URL to this machine's receiver, until Ctrl-C.

    `doppel serve` runs this by itself where that variable is set.
    """
    settings = host.load()
    if not settings.webhook_proxy_url:
        raise SettingsError(
            "WEBHOOK_PROXY_URL: not set. Open https://smee.io/new, set WEBHOOK_PROXY_URL to the address it leads to, "
            "and enter the same address as the webhook URL on the App's page."
        )
    if not settings.webhook_secrets:
        raise SettingsError("WEBHOOK_SECRET: not set; the receiver accepts nothing that is not signed with it.")
    configure_logging(settings.log_level, settings.log_format)
    try:
        channel.forward(
            settings.webhook_proxy_url, f"{settings.local_url}/webhook", settings.webhook_secrets, time.sleep
        )
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
