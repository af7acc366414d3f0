"""`doppel migrate` and `doppel migrate-store`: bring a database's schema up to date, or copy the database."""

from __future__ import annotations

import os

import click

from bot.app.cli.shared.console import echo_json
from bot.app.cli.shared.parameters import json_option
from bot.platform import settings as host


@click.command()
def migrate() -> None:
    """Bring the database schema up to date. Running this twice, or on two machines at once, does no harm.

    The schema of a later release is left unchanged, and the command says so.
    """
    from bot.app.wiring.clients import prepare_databases
    from bot.storage.engine import make_engine, redacted
    from bot.storage.migrate import is_later

    settings = host.load()
    prepare_databases(settings)
    engine = make_engine(settings.database_url)
    result = "the schema is of a later release, and left as it is" if is_later(engine) else "the schema is up to date"
    engine.dispose()
    click.echo(f"{redacted(settings.database_url)}: {result}")


@click.command("migrate-store")
@click.option("--from", "source", metavar="URL", help="The database to copy from [default: DATABASE_URL].")
@click.option("--to", "target", metavar="URL", required=True, help="The database to copy to; it must be empty.")
@click.option("--dry-run", is_flag=True, help="Say what would be copied, and change nothing.")
@json_option
def migrate_store(source: str | None, target: str, dry_run: bool, as_json: bool) -> None:
    """Copy store and queue to another database, as from SQLite to PostgreSQL. The index is read again from GitHub.

    Stop web and worker first. Either everything is copied or nothing. The source does not change. A password need not
    be in the address: ~/.pgpass and PGPASSWORD are read too.
    """
    from handlers.database_copy import copy, host_databases

    # Check both URLs here, so that an error names the option and its default (`otherwise`).
    goal = host.database_url(target.strip(), "--to", otherwise="")
    origin = source and host.database_url(source.strip(), "--from", otherwise="DATABASE_URL")
    settings = host.load({**os.environ, "DATABASE_URL": origin} if origin else os.environ)
    here, there = host_databases(settings), host_databases(settings.model_copy(update={"database_url": goal}))
    here.reach()
    there.reach()
    tables = copy(here, there, dry_run=dry_run)
    rows = sum(tables.values())
    if as_json:
        echo_json({"from": here.name, "to": there.name, "dry_run": dry_run, "tables": tables, "rows": rows})
        return
    click.echo(f"{here.name} → {there.name}")
    for name, count in {**tables, "rows in all": rows}.items():
        click.echo(f"  {name:<20}{count:>12,}")
    done = "Every row was copied. Set DATABASE_URL to the new database; the index is read again from GitHub."
    click.echo("Nothing was changed." if dry_run else done)
