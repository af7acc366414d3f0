"""`doppel migrate`: bring the database schema up to date, before new processes start (the release phase of a host)."""

from __future__ import annotations

import click

from bot import settings as host
from bot.store.database.engine import shown
from bot.wiring.clients import prepare_databases


@click.command()
def migrate() -> None:
    """Bring the database schema up to date. Doing it twice, or at once on two machines, does no harm."""
    settings = host.load()
    prepare_databases(settings)
    click.echo(f"{shown(settings.database_url)}: the schema is up to date")
