"""`doppel dedupe PLAYBOOK.json`: merge the entries of a playbook that say the same."""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.app.cli.shared.console import file_errors, in_json
from bot.app.cli.shared.parameters import OUT, READ_FILE
from bot.conversation.render.escape import clean
from bot.domain.errors import Retryable, UserError
from bot.domain.formats import counted
from bot.platform.private_files import refuse_links, replace_file

if TYPE_CHECKING:
    from bot.interfaces.agents.deduplication import Deduplication
    from bot.interfaces.agents.playbook import PlaybookEntry

_TEXT_SHOWN = 100


@click.command()
@click.argument("playbook", type=READ_FILE)
@click.option(
    "--threshold",
    type=float,
    help="Merge entries with at least this cosine similarity, 0 to 1.  [default: the model's own]",
)
@click.option("--model", help="all-MiniLM-L6-v2 or wordllama.  [default: the first one that is installed]")
@click.option("--out", type=OUT, help="Write the merged playbook to this file.")
@click.option("--in-place", is_flag=True, help="Write the merged playbook back to PLAYBOOK.")
@click.option("--dry-run", is_flag=True, help="Only say what would be merged.")
def dedupe(
    playbook: Path, threshold: float | None, model: str | None, out: Path | None, in_place: bool, dry_run: bool
) -> None:
    """Merge entries that say the same in PLAYBOOK, a JSON file.

    The first entry of a group keeps its name, text and section, and gets the sums of the group's counters. Without
    --out, --in-place or --dry-run the merged playbook goes to stdout. The list of merges, with their similarities,
    goes to stderr.
    """
    if (out is not None) + in_place + dry_run > 1:
        raise click.UsageError("--out, --in-place and --dry-run exclude each other")
    from bot.interfaces.agents.deduplication import deduplicate
    from bot.interfaces.agents.playbook import MalformedPlaybook, apply, read_playbook
    from bot.interfaces.agents.run import SECTION_SLUGS
    from bot.platform.settings.loading import variables

    # Read the variables without checking the bot's settings: a wrong setting must not stop the merge.
    environ = variables(os.environ, None)
    try:
        content = read_playbook(playbook)
        found = deduplicate(content, threshold, slugs=SECTION_SLUGS, model=model, environ=environ)
    except MalformedPlaybook as problem:
        raise UserError(f"{playbook}: {problem}") from None
    except (Retryable, ValueError) as problem:
        # Retryable here means a missing or broken model. Another try does not help.
        raise UserError(str(problem)) from None
    _report(found)
    if dry_run:
        return
    apply(content, found.entries, found.groups)
    text = in_json(content, indent=2) + "\n"
    if out is None and not in_place:
        click.echo(text, nl=False)
    # If --in-place merges nothing, do not write: PLAYBOOK keeps its author's formatting.
    elif found.merged or out is not None:
        # PLAYBOOK may be a symbolic link; --out must not be one. An existing file keeps its mode.
        target = out or playbook.resolve()
        with file_errors(target):
            refuse_links(target)
            target.touch()
            replace_file(target, [text], stat.S_IMODE(target.stat().st_mode))


def _report(found: Deduplication) -> None:
    """Report on stderr, since stdout may be the playbook."""
    from bot.interfaces.agents.deduplication import describe_merges

    say = partial(click.echo, err=True)
    # Fewer than two entries need no model.
    if not found.model:
        say(f"{'1 entry' if found.entries else 'No entries'}: nothing to compare")
        return
    for merge in describe_merges(found):
        kept = merge.survivor
        say(f"{_place(kept)}  helpful/harmful {kept.helpful}/{kept.harmful} → {merge.helpful}/{merge.harmful}")
        say(f"    {clean(kept.text, _TEXT_SHOWN)}")
        for absorbed in merge.absorbed:
            how = "" if absorbed.through is None else f", through {_place(absorbed.through)} at {absorbed.link:.2f}"
            say(f"  ← {absorbed.similarity:.2f}  {_place(absorbed.entry)}{how}")
            say(f"    {clean(absorbed.entry.text, _TEXT_SHOWN)}")
    for left, right in found.apart:
        both = f"{_place(found.entries[left])} and {_place(found.entries[right])}"
        say(f"{both} contradict each other, and stay two entries")
    merged = len(found.entries) - len(found.groups)
    counts = f"{counted(len(found.entries), 'entry', 'entries')}, {merged} merged into others, {len(found.groups)} left"
    say(f"{counts} ({found.model}, threshold {found.threshold:g})")


def _place(entry: PlaybookEntry) -> str:
    return f"{clean(entry.name, _TEXT_SHOWN)} ({clean(entry.section, _TEXT_SHOWN)})"
