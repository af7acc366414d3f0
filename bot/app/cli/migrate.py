"""`doppel migrate` and `doppel migrate-store`: a database's schema is brought up to date, or all of it copied."""

from __future__ import annotations

import json
from contextlib import nullcontext

import click

from bot.app.cli.shared.console import database_errors
from bot.app.cli.shared.parameters import json_option, settings_with
from bot.platform import settings as host


@click.command()
def migrate() -> None:
    """Bring the database schema up to date. Doing it twice, or at once on two machines, does no harm.

    The schema of a later release stays as it is, which the command then says.
    """
    from bot.app.wiring.clients import prepare_databases
    from bot.storage.engine import make_engine, redacted
    from bot.storage.migrate import is_later

    settings = host.load()
    prepare_databases(settings)
    engine = make_engine(settings.database_url)
    says = "the schema is of a later release, and left as it is" if is_later(engine) else "the schema is up to date"
    engine.dispose()
    click.echo(f"{redacted(settings.database_url)}: {says}")


@click.command("migrate-store")
@click.option("--from", "source", metavar="URL", help="The database to copy from [default: DATABASE_URL].")
@click.option("--to", "target", metavar="URL", required=True, help="The database to copy to, without data of its own.")
@click.option("--dry-run", is_flag=True, help="Say what would be copied, and change nothing.")
@json_option
def migrate_store(source: str | None, target: str, dry_run: bool, as_json: bool) -> None:
    """Copy store and queue to another database, as from SQLite to PostgreSQL. The index is read again from GitHub.

    Stop web and worker first. Everything is copied or nothing. The source is left as it is. A password need not be in
    the address: ~/.pgpass and PGPASSWORD are read too.
    """
    if not target:
        # It would count as DATABASE_URL that is not set.
        raise click.UsageError("--to is empty; give the address of the database to copy to")
    from handlers.database_copy import copy, host_databases

    here = host_databases(settings_with("--from", source or None))
    there = host_databases(settings_with("--to", target, otherwise=""))
    with database_errors("the database of --from") if source else nullcontext():
        here.reach()
    with database_errors("the database of --to"):
        there.reach()
    tables = copy(here, there, dry_run=dry_run)
    rows = sum(tables.values())
    if as_json:
        answer = {"from": here.name, "to": there.name, "dry_run": dry_run, "tables": tables, "rows": rows}
        click.echo(json.dumps(answer))
        return
    click.echo(f"{here.name} → {there.name}")
    for name, count in (*tables.items(), ("rows in all", rows)):
        if count or name not in tables:
            click.echo(f"  {name:<20}{count:>12,}")
    done = "Every row was copied. Set DATABASE_URL to the new database; the index is read again from GitHub."
    click.echo("Nothing was changed." if dry_run else done)
