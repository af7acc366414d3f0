"""`doppel migrate`: bring the database schema up to date, before new processes start (the release phase of a host)."""

from __future__ import annotations

import click

from bot import settings as host
from bot.store.database.engine import make_engine, shown
from bot.store.database.migrate import is_later
from bot.wiring.clients import prepare_databases


@click.command()
def migrate() -> None:
    """Bring the database schema up to date. Doing it twice, or at once on two machines, does no harm.

    The schema of a later release stays as it is, which the command then says.
    """
    settings = host.load()
    prepare_databases(settings)
    engine = make_engine(settings.database_url)
    says = "the schema is of a later release, and left as it is" if is_later(engine) else "the schema is up to date"
    engine.dispose()
    click.echo(f"{shown(settings.database_url)}: {says}")
