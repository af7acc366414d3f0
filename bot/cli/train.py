"""`doppel train`: weights from issues with known duplicates."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bot.cli.shared.ending import ended_in_order
from bot.cli.shared.files import READ_FILE, WrittenFile, keep_apart, write
from bot.cli.shared.progress import progress_bar
from bot.errors import UserError
from bot.machine.private_files import is_no_file
from bot.machine.sockets import use_short_paths

OTHERS = 2_500


@click.command()
@click.argument("files", nargs=-1, required=True, type=READ_FILE)
@click.option("--out", required=True, type=WrittenFile(), help="Where the weights go.")
@click.option(
    "--for",
    "purpose",
    type=click.Choice(["index", "search"]),
    default="index",
    show_default=True,
    help="Weights for what the index of a repository finds, or for what GitHub's searches find.",
)
@click.option(
    "--others", type=click.IntRange(1), default=OTHERS, show_default=True, help="Issues that repeat nothing, a file."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which of them.")
def train(files: tuple[Path, ...], out: Path, purpose: str, others: int, seed: int) -> None:
    """Learn the weights from FILES, JSON Lines that say in `duplicate_of` which issues are duplicates.

    The weights are a few kB of JSON. `doppel replay --weights` and `doppel evaluate --weights` try them out; those that
    Doppel comes with are bot/matching/weights.json and, for searches, bot/ranking/weights.json.
    """
    if pipe := next((path for path in files if is_no_file(path)), None):
        # Each file is read twice, and several are by processes of their own, which have no pipe of this one.
        raise UserError(
            f"{pipe} is a pipe or a device, and training reads files alone; gzipped files are read as they are"
        )
    keep_apart("--out", out, *files)
    from bot.cli.shared.temporary import told_of_temporary_index
    from bot.training import over_index, over_search

    use_short_paths()
    learn = over_index.learn if purpose == "index" else over_search.learn
    try:
        with (
            ended_in_order(),
            told_of_temporary_index(),
            progress_bar("Issues looked at", None) as (progress, task),
        ):
            to_do = 0

            def advance(more: int, done: int) -> None:
                nonlocal to_do
                to_do += more
                progress.update(task, total=to_do, advance=done)

            learned = learn(files, advance, others=others, seed=seed)
    except ValueError as problem:
        raise UserError(f"nothing can be learned from {', '.join(map(str, files))}: {problem}") from None
    made = {
        "made_from": [path.name for path in files],
        "made_by": f"doppel train FILES --for {purpose} --others {others} --seed {seed}",
        **learned,
    }
    write(out, json.dumps(made, indent=1) + "\n")
    click.echo(
        f"{out}: learned from {learned['arrivals']:,} issues. How good these weights are is shown by `doppel evaluate` "
        "with --weights, on issues that they were not learned from.",
        err=True,
    )
