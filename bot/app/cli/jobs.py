"""`doppel jobs`: list the deliveries that were given up, and try them again."""

from __future__ import annotations

import dataclasses
import sys
from contextlib import closing
from datetime import datetime

import click

from bot.app.cli.shared.console import echo_json
from bot.app.cli.shared.parameters import ONE_OR_MORE, json_option
from bot.domain.formats import counted, format_time
from bot.platform import settings as host


@click.group(invoke_without_command=True)
@click.option("--limit", type=ONE_OR_MORE, default=100, show_default=True, help="List at most this many deliveries.")
@json_option
@click.pass_context
def jobs(ctx: click.Context, limit: int, as_json: bool) -> None:
    """List the deliveries that were given up, the latest first, each with the reason.

    Workers try a failed delivery again by themselves, for most of a day if GitHub is down. A delivery that still fails
    is then kept here for a month.
    """
    if ctx.invoked_subcommand:
        return
    from bot.deliveries.dead_letters import DeadLetters

    with closing(DeadLetters(host.load())) as letters:
        found = letters.list(limit)
    if as_json:
        rows = [dataclasses.asdict(one) for one in found]
        for row, one in zip(rows, found, strict=True):
            row.update(repository=str(one.repository) if one.repository else None, failed_at=format_time(one.failed_at))
        echo_json(rows)
        return
    for letter in found:
        when = datetime.fromtimestamp(letter.failed_at).astimezone().strftime("%Y-%m-%d %H:%M")
        click.secho(letter.delivery_id, bold=True, nl=False)
        click.echo(f"  {letter.event} {letter.repository or ''}".rstrip() + f", given up {when}")
        # The dead letter of a job that killed its workers counts 0 attempts.
        tries = counted(letter.attempts, "attempt") if letter.attempts else "several attempts"
        click.echo(f"    after {tries}: {letter.reason}")
    how = "`doppel jobs retry ID` tries one again, `doppel jobs retry --all` all of them."
    click.echo(how if found else "Nothing was given up.")


@jobs.command()
@click.argument("delivery", metavar="ID", required=False)
@click.option("--all", "everything", is_flag=True, help="Retry every listed delivery.")
def retry(delivery: str | None, everything: bool) -> None:
    """Put the delivery ID back into the queue, as if it had just arrived.

    Exit code 1: a delivery was not put back. It was never given up, or has been retried or removed.
    """
    if bool(delivery) == everything:
        raise click.UsageError("give either the ID of a delivery, as `doppel jobs` lists it, or --all")
    from bot.deliveries.dead_letters import MOST, DeadLetters

    with closing(DeadLetters(host.load())) as letters:
        wanted = [delivery] if delivery else [one.delivery_id for one in letters.list(MOST)]
        missed = [one for one in wanted if not letters.retry(one)]
    for one in missed:
        click.echo(f"{one}: no delivery of this id was given up, or its content has been erased", err=True)
    click.echo(f"{len(wanted) - len(missed)} of {len(wanted)} put back into the queue")
    sys.exit(1 if missed else 0)
