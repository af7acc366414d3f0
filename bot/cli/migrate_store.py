"""`doppel migrate-store`: everything that is stored, from one database to another."""

from __future__ import annotations

import json
import time
from contextlib import closing, nullcontext

import click

from bot.cli.shared.database import settings_with
from bot.cli.shared.progress import progress_bar


@click.command("migrate-store")
@click.option("--from", "source", metavar="URL", help="The database to move from [default: DATABASE_URL].")
@click.option("--to", "target", metavar="URL", required=True, help="The database to move to, without data of its own.")
@click.option("--dry-run", is_flag=True, help="Say what would be moved, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def migrate_store(source: str | None, target: str, dry_run: bool, as_json: bool) -> None:
    """Move store, index and queue to another database, as from SQLite to PostgreSQL; every row is compared at the end.

    Stop web and worker first. What is killed in the middle goes on when it is called again. The source is left as it
    is. A password need not be in the address: ~/.pgpass and PGPASSWORD are read too.
    """
    # These take a second to import, which `doppel --help` need not pay.
    from bot.cli.shared.given import told_of_option
    from bot.moving import move, plan
    from bot.moving.places import place

    if not target:
        # It would count as DATABASE_URL that is not set.
        raise click.UsageError("--to is empty; give the address of the database to move to")
    began = time.monotonic()
    settings = settings_with("--from", source or None)
    settings_there = settings_with("--to", target, otherwise="")
    with closing(place(settings)) as here, closing(place(settings_there)) as there:
        with told_of_option("--from") if source else nullcontext():
            here.reach()
        with told_of_option("--to"):
            there.reach()
        planned = plan(here, there)
        if not dry_run:
            with progress_bar("rows copied and compared", 2 * sum(planned.rows.values())) as (bar, task):
                moved = move(here, there, lambda _, rows: bar.advance(task, rows))
        answer = {
            "from": here.name,
            "to": there.name,
            "dry_run": dry_run,
            "resumed": planned.resumed,
            "tables": planned.rows if dry_run else moved.rows,
            "rows": sum((planned if dry_run else moved).rows.values()),
            "seconds": round(time.monotonic() - began, 1),
        }
    if as_json:
        click.echo(json.dumps(answer))
        return
    click.echo(f"{here.name} → {there.name}")
    for name, rows in (planned if dry_run else moved).rows.items():
        if rows:
            click.echo(f"  {name:<20}{rows:>12,}")
    click.echo(f"  {'rows in all':<20}{answer['rows']:>12,}")
    if dry_run:
        click.echo("Nothing was changed." + (" A move that was broken off would go on." if planned.resumed else ""))
    else:
        click.echo(
            f"Every row is there and was compared, in {answer['seconds']} s. Set DATABASE_URL to the new database."
        )
