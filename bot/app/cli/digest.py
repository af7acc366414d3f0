"""`doppel digest` and `doppel calibrate`: what the bot did lately, how often it was right, and the threshold (C7)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import click

from bot.app.cli.shared.console import echo_json
from bot.app.cli.shared.parameters import json_option, repository_argument, stored

_UNITS = {"h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def _seconds(_context: click.Context, _option: click.Parameter, value: str) -> float:
    """A period such as `36h`, `7d` or `4w`, in seconds."""
    found = re.fullmatch(r"([1-9][0-9]{0,3})([hdw])", value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not a time such as 36h, 7d or 4w")
    return int(found[1]) * _UNITS[found[2]]


@click.command()
@repository_argument
@click.option("--since", callback=_seconds, default="7d", show_default=True, help="How far to look back: 36h, 7d, 4w.")
@json_option
def digest(repository: str, since: float, as_json: bool) -> None:
    """Say what the bot did lately, or would have done (mode: shadow), and how often people found that it was right.

    GitHub's id of the repository may replace OWNER/REPO. This command does not ask GitHub: workers read reactions every
    hour, and closings, commands and ticked boxes as they come. Below each issue you see what the bot named, its
    probability, and what people said; "(not)" and "(of)" are commands. The JSON has no titles.
    docs/feedback.md says how much each kind of feedback counts.
    """
    from bot.app.wiring.clients import now
    from bot.app.wiring.indexes import build_index, stored_threshold
    from bot.conversation.messages.catalogue import english
    from bot.conversation.render.escape import clean
    from bot.quality import digest_text as words
    from bot.quality.digest import digest_of, titles_of

    moment, messages = now(), english()
    with stored(repository) as (settings, store, target):
        found = digest_of(store, target.id, moment.timestamp() - since, moment.timestamp())
        titles = titles_of(build_index(settings, store), target.id, found)
        threshold = stored_threshold(store, target.id)
    if as_json:
        in_force = {"bar": threshold.value, "bar_from": threshold.origin.value}
        echo_json({"repository": target.name, **in_force, **found.to_json()})
    else:
        click.echo(f"{words.sentences(found, moment, messages)}\n{words.threshold_words(threshold, messages)}")
        for line in found.lines:
            # A title must not act as a command to the terminal.
            issue, candidate = (clean(f"#{one} {titles.get(one, '')}") for one in (line.number, line.other))
            feedback = words.standing_words(line, messages, brief=True)
            click.echo(f"\n{issue}\n    {messages.locale.percent(line.probability)} {candidate}\n    {feedback}")


@click.command()
@repository_argument
@click.option("--reset", is_flag=True, help="Reset the threshold; feedback given until now no longer moves it.")
@json_option
def calibrate(repository: str, reset: bool, as_json: bool) -> None:
    """Say which threshold is in force, who put it there, and what people have said.

    GitHub's id of the repository may replace OWNER/REPO. Workers calibrate every hour by themselves; this command
    calibrates now, and stores the result. docs/feedback.md explains the rule.
    """
    from bot.app.wiring.clients import now
    from bot.app.wiring.indexes import stored_threshold
    from bot.conversation.messages.catalogue import english
    from bot.quality import digest_text as words
    from bot.quality.calibration import ENOUGH, WINDOW, Move, current_calibration, recalibrate

    at = now().timestamp()
    with stored(repository) as (_, store, target):
        if reset:
            store.calibrations.reset(target.id, at)
        else:
            recalibrate(store, target.id, at)
        current, saved = current_calibration(store, target.id, at), store.calibrations.get(target.id)
        threshold = stored_threshold(store, target.id)
    if as_json:
        in_force = {"bar": threshold.value, "from": threshold.origin.value}
        said = {"feedback": current.move.value, "right": current.right, "wrong": current.wrong}
        echo_json({"repository": target.name, **in_force, **said, "reset": reset})
        return
    if reset:
        click.echo("The threshold is reset. Feedback given until now no longer moves it.")
    click.echo(words.threshold_words(threshold, english()))
    # If feedback moves the threshold, the weights are printed above, except if settings override the threshold.
    if current.move is not Move.STAYS:
        return
    since = datetime.fromtimestamp(max(at - WINDOW, saved.since if saved else 0.0), UTC)
    click.echo(
        f"Feedback since {since:%Y-%m-%d %H:%M} UTC, by weight: {current.right:g} right, {current.wrong:g} wrong. "
        f"The threshold can move once one of them reaches {ENOUGH:g}."
    )
