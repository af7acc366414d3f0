"""`doppel calibrate OWNER/REPO`: where feedback has put a repository's threshold, and putting it back (C7)."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime

import click

from bot import settings as host
from bot.cli.shared.stored import stored_repository


@click.command()
@click.argument("repository", metavar="OWNER/REPO")
@click.option("--reset", is_flag=True, help="Put the threshold back; what was said until now no longer moves it.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def calibrate(repository: str, reset: bool, as_json: bool) -> None:
    """Say which threshold is in force, who put it there, and what people have said.

    GitHub's id may stand for OWNER/REPO. Workers calibrate every hour by themselves; this works it out anew and keeps
    what comes of it. docs/feedback.md says by which rule.
    """
    from bot.calibration.bar import bar_in_force
    from bot.calibration.recalibrating import calibration_of, recalibrate
    from bot.calibration.rule import ENOUGH, WINDOW, Move
    from bot.render.digest import bar_words
    from bot.repositories.settings import RepositorySettings
    from bot.store import open_store
    from bot.wiring.clients import now
    from bot.words import english

    settings, moment = host.load(), now().timestamp()
    with closing(open_store(settings)) as store:
        meant = stored_repository(store, repository)
        kept = store.calibrations
        if reset:
            kept.reset(meant.id, moment)
        else:
            recalibrate(store, meant.id, moment)
        found = calibration_of(store, meant.id, moment)
        known = kept.get(meant.id)
        bar = bar_in_force(RepositorySettings(store, now).last_read(meant.id), known)
    if as_json:
        values = {"repository": meant.name, "bar": bar.value, "from": bar.origin.value, "feedback": found.move.value}
        click.echo(json.dumps({**values, "right": found.right, "wrong": found.wrong, "reset": reset}, indent=2))
        return
    if reset:
        click.echo("Put back. What was said until now no longer moves the threshold.")
    click.echo(bar_words(bar, english()))
    if found.move is not Move.STAYS:
        return
    since = known.since if known else 0.0
    put_back = f"since the threshold was put back on {datetime.fromtimestamp(since, UTC):%Y-%m-%d at %H:%M} UTC"
    when = put_back if since > moment - WINDOW else "of the last year"
    click.echo(
        f"Feedback {when}, by weight: {found.right:g} right, {found.wrong:g} wrong. "
        f"The threshold can move once one of them reaches {ENOUGH:g}."
    )
