"""`doppel dedupe PLAYBOOK.json`: merge the entries of a playbook that say the same."""

from __future__ import annotations

import json
import math
import os
import stat
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.app.cli.shared.console import file_errors, in_json
from bot.app.cli.shared.parameters import OUT, READ_FILE
from bot.domain.errors import Retryable, UserError
from bot.domain.formats import counted
from bot.platform.local import plain
from bot.platform.private_files import refuse_links, replace_file

if TYPE_CHECKING:
    from bot.interfaces.agents.deduplication import Deduplication
    from bot.interfaces.agents.playbook import PlaybookEntry

_TEXT_SHOWN = 100


@click.command()
@click.argument("playbook", type=READ_FILE)
@click.option("--threshold", type=float, help="The least cosine similarity, 0 to 1.  [default: the model's own]")
@click.option("--model", help="all-MiniLM-L6-v2 or wordllama.  [default: the first of them that is installed]")
@click.option("--out", type=OUT, help="Write the merged playbook to this file.")
@click.option("--in-place", is_flag=True, help="Write it back to PLAYBOOK.")
@click.option("--dry-run", is_flag=True, help="Only say what would be merged.")
def dedupe(
    playbook: Path, threshold: float | None, model: str | None, out: Path | None, in_place: bool, dry_run: bool
) -> None:
    """Merge the entries of PLAYBOOK, a JSON file, that say the same.

    The first of them keeps its name, text and section and gets the sums of the counters. Without --out, --in-place or
    --dry-run the merged playbook goes to stdout. What was merged into what, at which similarity, goes to stderr.
    """
    if (out is not None) + in_place + dry_run > 1:
        raise click.UsageError("--out, --in-place and --dry-run exclude each other")
    from bot.interfaces.agents.deduplication import deduplicate
    from bot.interfaces.agents.playbook import apply
    from bot.interfaces.agents.run import SECTION_SLUGS
    from bot.platform.settings.loading import variables

    content = _read(playbook)
    try:
        # No other setting matters here, and none that is wrong for the bot may keep a playbook from being merged.
        environ = variables(os.environ, None)
        found = deduplicate(content, threshold, slugs=SECTION_SLUGS, model=model, environ=environ)
    except UserError:
        raise
    except Retryable as problem:
        # A model that is not there will not come by itself.
        raise UserError(str(problem)) from None
    except ValueError as problem:
        raise UserError(f"{playbook}: {problem}") from None
    _tell(found)
    if dry_run:
        return
    apply(content, found.entries, found.groups)
    text = in_json(content, indent=2) + "\n"
    if out is None and not in_place:
        click.echo(text, nl=False)
    # A playbook in which nothing was merged stays as its author formatted it.
    elif found.merged or out is not None:
        # A playbook that is read through a link is written through it, and keeps its mode.
        target = out or playbook.resolve()
        with file_errors(target):
            refuse_links(target)
            target.touch()
            replace_file(target, [text], stat.S_IMODE(target.stat().st_mode))


def _read(path: Path) -> Any:
    hooks: dict[str, Any] = {"parse_constant": _no_number, "parse_float": _number, "parse_int": _number}
    try:
        # What editors on Windows put before a text is no part of it.
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_each_once, **hooks)
    except OSError as problem:
        raise UserError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: this is not UTF-8 text") from None
    except (ValueError, RecursionError) as problem:
        raise UserError(f"{path}: this is not JSON: {problem}") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without repeated names: of two sections of one name the first would be lost."""
    for name, times in Counter(name for name, _ in pairs).most_common(1):
        if times > 1:
            raise ValueError(f"the name {name!r} stands twice in one object")
    return dict(pairs)


def _no_number(constant: str) -> Any:
    """NaN and Infinity, which Python reads and writes, and other programs do not."""
    raise ValueError(f"{constant} is not JSON")


def _number(digits: str) -> float:
    """A number that Python keeps and writes as it is."""
    try:
        value = int(digits) if digits.lstrip("-").isdigit() else float(digits)
    except ValueError:
        value = math.inf
    if abs(value) == math.inf:
        raise ValueError(f"{digits[:40]}{'…' * (len(digits) > 40)} is too large a number")
    return value


def _tell(found: Deduplication) -> None:
    """Report on stderr, since stdout may be the playbook."""
    from bot.interfaces.agents.deduplication import account

    def say(text: str, **how: Any) -> None:
        click.secho(text, err=True, **how)

    if not found.model:
        say(f"{'1 entry' if found.entries else 'No entries'}: nothing to compare")
        return
    for merge in account(found):
        old = merge.survivor
        say(_place(old), bold=True, nl=False)
        say(f"  helpful/harmful {old.helpful}/{old.harmful} → {merge.helpful}/{merge.harmful}\n    {_shown(old.text)}")
        for one in merge.absorbed:
            how = "" if one.through is None else f", through {_place(one.through)} at {one.link:.2f}"
            say(f"  ← {one.similarity:.2f}  {_place(one.entry)}{how}\n    {_shown(one.entry.text)}")
    for left, right in found.apart:
        pair = f"{_place(found.entries[left])} and {_place(found.entries[right])}"
        say(f"{pair} contradict each other, and stay two entries")
    gone = len(found.entries) - len(found.groups)
    counts = f"{counted(len(found.entries), 'entry', 'entries')}, {gone} merged into others, {len(found.groups)} left"
    say(f"{counts} ({found.model}, threshold {found.threshold:g})")


def _place(entry: PlaybookEntry) -> str:
    return f"{_shown(entry.name)} ({_shown(entry.section)})"


def _shown(text: str) -> str:
    return plain(text) if len(text) <= _TEXT_SHOWN else plain(text[:_TEXT_SHOWN]) + "…"
