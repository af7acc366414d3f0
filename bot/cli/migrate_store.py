"""`doppel migrate-store`: everything that is stored, from one database to another."""

from __future__ import annotations

import json
from contextlib import nullcontext

import click

from bot.cli.shared.database import settings_with


@click.command("migrate-store")
@click.option("--from", "source", metavar="URL", help="The database to copy from [default: DATABASE_URL].")
@click.option("--to", "target", metavar="URL", required=True, help="The database to copy to, without data of its own.")
@click.option("--dry-run", is_flag=True, help="Say what would be copied, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def migrate_store(source: str | None, target: str, dry_run: bool, as_json: bool) -> None:
    """Copy store and queue to another database, as from SQLite to PostgreSQL. The index is read again from GitHub.

    Stop web and worker first. Everything is copied or nothing. The source is left as it is. A password need not be in
    the address: ~/.pgpass and PGPASSWORD are read too.
    """
    # These take a second to import, which `doppel --help` need not pay.
    from bot.cli.shared.given import told_of_option
    from bot.moving import copy, place

    if not target:
        # It would count as DATABASE_URL that is not set.
        raise click.UsageError("--to is empty; give the address of the database to copy to")
    here = place(settings_with("--from", source or None))
    there = place(settings_with("--to", target, otherwise=""))
    with told_of_option("--from") if source else nullcontext():
        here.reach()
    with told_of_option("--to"):
        there.reach()
    tables = copy(here, there, dry_run=dry_run)
    rows = sum(tables.values())
    if as_json:
        answer = {"from": here.name, "to": there.name, "dry_run": dry_run, "tables": tables, "rows": rows}
        click.echo(json.dumps(answer))
        return
    click.echo(f"{here.name} → {there.name}")
    for name, count in tables.items():
        if count:
            click.echo(f"  {name:<20}{count:>12,}")
    click.echo(f"  {'rows in all':<20}{rows:>12,}")
    if dry_run:
        click.echo("Nothing was changed.")
    else:
        click.echo("Every row was copied. Set DATABASE_URL to the new database; the index is read again from GitHub.")
