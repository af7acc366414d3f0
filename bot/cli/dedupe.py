"""`doppel dedupe PLAYBOOK.json`: merge the entries of a playbook that say the same."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.shared.files import READ_FILE, told_if_refused
from bot.cli.shared.in_json import in_json
from bot.counted import counted
from bot.errors import Retryable, UserError
from bot.machine.private_files import replace_file
from bot.machine.terminal import plain

if TYPE_CHECKING:
    from bot.knowledge.account import Merge
    from bot.knowledge.deduplication import Deduplication
    from bot.knowledge.playbook import Entry

_TEXT_SHOWN = 100


@click.command()
@click.argument("playbook", type=READ_FILE)
@click.option("--threshold", type=float, help="The least cosine similarity, 0 to 1.  [default: the model's own]")
@click.option("--model", help="all-MiniLM-L6-v2 or wordllama.  [default: the first of them that is installed]")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the merged playbook to this file.")
@click.option("--in-place", is_flag=True, help="Write it back to PLAYBOOK.")
@click.option("--dry-run", is_flag=True, help="Only say what would be merged.")
def dedupe(
    playbook: Path, threshold: float | None, model: str | None, out: Path | None, in_place: bool, dry_run: bool
) -> None:
    """Merge the entries of PLAYBOOK, a JSON file, that say the same.

    The first of them keeps its name, text and section and gets the sums of the counters. Without --out, --in-place or
    --dry-run the merged playbook goes to stdout. What was merged into what, at which similarity, goes to stderr.
    """
    if (out is not None and in_place) or (dry_run and (out is not None or in_place)):
        raise click.UsageError("--out, --in-place and --dry-run exclude each other")
    # NumPy and the models, which `doppel --help` need not pay for.
    from bot.knowledge.account import account
    from bot.knowledge.deduplication import deduplicate
    from bot.knowledge.playbook import apply
    from bot.ranking.playbook import SECTION_SLUGS
    from bot.settings.loading import variables

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
    _tell(found, account(found))
    if dry_run:
        return
    apply(content, found.entries, found.groups)
    text = in_json(content, indent=2) + "\n"
    if out is None and not in_place:
        click.echo(text, nl=False)
    # A playbook in which nothing was merged stays as its author formatted it.
    elif found.merged or out is not None:
        # A playbook that is read through a link is written through it.
        target = out or playbook.resolve()
        with told_if_refused(target):
            replace_file(target, [text], _mode(target))


def _mode(path: Path) -> int:
    """The mode that a file has, or would have if it were made now."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()


def _umask() -> int:
    """The process's; it can be read only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _read(path: Path) -> Any:
    try:
        # What editors on Windows put before a text is no part of it.
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(
            text, object_pairs_hook=_each_once, parse_constant=_no_number, parse_float=_number, parse_int=_whole
        )
    except OSError as problem:
        raise UserError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: this is not UTF-8 text") from None
    except (ValueError, RecursionError) as problem:
        raise UserError(f"{path}: this is not JSON: {problem}") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, where no name stands twice: of two sections of one name the first would be lost in what is written."""
    names = dict(pairs)
    if len(names) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the name {twice!r} stands twice in one object")
    return names


def _no_number(constant: str) -> Any:
    """NaN and Infinity, which Python reads and writes, and other programs do not."""
    raise ValueError(f"{constant} is not JSON")


def _number(digits: str) -> float:
    """A number as Python keeps it. One too large for it would be written as Infinity."""
    if math.isinf(value := float(digits)):
        raise ValueError(f"{digits[:40]} is too large a number")
    return value


def _whole(digits: str) -> int:
    """A whole number, of which Python refuses one of thousands of digits in words of its own."""
    try:
        return int(digits)
    except ValueError:
        raise ValueError(f"{digits[:40]}… is too large a number") from None


def _tell(found: Deduplication, merges: Iterable[Merge]) -> None:
    """The account, for a person, on stderr: stdout may be the playbook."""
    if not found.model:
        click.echo(f"{'1 entry' if found.entries else 'No entries'}: nothing to compare", err=True)
        return
    for merge in merges:
        old = merge.survivor
        counters = f"{old.helpful}/{old.harmful} → {merge.helpful}/{merge.harmful}"
        click.secho(_place(old), bold=True, nl=False, err=True)
        click.echo(f"  helpful/harmful {counters}\n    {_shown(old.text)}", err=True)
        for one in merge.absorbed:
            how = "" if one.through is None else f", through {_place(one.through)} at {one.link:.2f}"
            click.echo(f"  ← {one.similarity:.2f}  {_place(one.entry)}{how}", err=True)
            click.echo(f"    {_shown(one.entry.text)}", err=True)
    gone = len(found.entries) - len(found.groups)
    click.echo(
        f"{counted(len(found.entries), 'entry', 'entries')}, {gone} merged into others, {len(found.groups)} left "
        f"({found.model}, threshold {found.threshold:g})",
        err=True,
    )


def _place(entry: Entry) -> str:
    return f"{_shown(entry.name)} ({_shown(entry.section)})"


def _shown(text: str) -> str:
    """One line of it, of bounded length."""
    return plain(text) if len(text) <= _TEXT_SHOWN else plain(text[:_TEXT_SHOWN]) + "…"
