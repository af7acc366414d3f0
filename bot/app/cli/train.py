"""`doppel train`: weights from issues with known duplicates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.app.cli.shared.console import progress_bar, refuse_overwriting, write
from bot.app.cli.shared.parameters import ONE_OR_MORE, READ_FILE, WrittenFile
from bot.domain.errors import UserError
from bot.platform.local import pip_install
from bot.platform.private_files import is_pipe_or_device
from bot.platform.signals import cleanup_on_signal

if TYPE_CHECKING:
    from bot.quality.training.arrivals import TrainingFile

_READINGS = "Readers' verdicts on issues. The file must be named like one of FILES. Can be repeated."
_BY = "For issues of NAME that have verdicts, use the text model in FOLDER. The model must not be tuned on NAME."
_MODEL = "Tune only a text model, into this folder. Needs 30 minutes or more and the extra `train`."
_OTHERS = "Non-duplicates to learn from, in each file."


@click.command()
@click.argument("files", nargs=-1, required=True, type=READ_FILE)
@click.option("--out", type=WrittenFile(), help="Write the weights to this file.")
@click.option("--readings", multiple=True, type=READ_FILE, help=_READINGS)
@click.option("--compared-by", multiple=True, metavar="NAME=FOLDER", help=_BY)
@click.option("--text-model", type=click.Path(file_okay=False, path_type=Path), help=_MODEL)
@click.option("--others", type=ONE_OR_MORE, default=2_500, show_default=True, help=_OTHERS)
@click.option("--seed", type=int, default=0, show_default=True, help="The random seed.")
def train(
    files: tuple[Path, ...],
    out: Path | None,
    readings: tuple[Path, ...],
    compared_by: tuple[str, ...],
    text_model: Path | None,
    others: int,
    seed: int,
) -> None:
    """Learn the weights from FILES, JSON Lines that say in `duplicate_of` which issues are duplicates.

    The weights are a few kB of JSON. `doppel replay --weights` and `doppel evaluate --weights` try them out. Doppel's
    own weights are in bot/search/matching/weights.json. With --text-model the text model is tuned instead.
    """
    if pipe := next((path for path in (*files, *readings) if is_pipe_or_device(path)), None):
        raise UserError(
            f"{pipe} is a pipe or a device, and training reads each file twice; name a file, which may be gzipped"
        )
    if sum(path is not None for path in (out, text_model)) != 1:
        raise click.UsageError("name either --out, for the weights, or --text-model, for a text model")
    materials = _materials(files, readings, compared_by)
    refuse_overwriting("--out", out, *files, *readings)
    try:
        with cleanup_on_signal():
            if text_model is not None:
                _tune(files, text_model, seed)
            elif out is not None:
                _learn(out, materials, others, seed)
    except ValueError as problem:
        raise UserError(f"nothing can be learned from {', '.join(map(str, files))}: {problem}") from None


def _learn(out: Path, materials: Sequence[TrainingFile], others: int, seed: int) -> None:
    from bot.quality.replay.drivers import temporary_index_errors
    from bot.quality.training import learning

    with temporary_index_errors(), progress_bar("Issues looked at", None) as (progress, task):

        def advance(added: int, done: int) -> None:
            total = (progress.tasks[0].total or 0) + added
            progress.update(task, total=total, advance=done)

        learned = learning.learn(materials, advance, others=others, seed=seed)
    made_from = [path.name for one in materials for path in (one.issues, one.readings) if path]
    given = " --readings FILES" if any(one.readings for one in materials) else ""
    given += " --compared-by NAME=FOLDER" if any(one.text_model for one in materials) else ""
    made = {"made_from": made_from, "made_by": f"doppel train FILES{given} --others {others} --seed {seed}"}
    write(out, json.dumps({**made, **learned}, indent=1) + "\n")
    click.echo(
        f"{out}: learned from {learned['arrivals']:,} issues. "
        "Test these weights on other issues with `doppel evaluate --weights`.",
        err=True,
    )


def _materials(files: Sequence[Path], readings: Sequence[Path], compared_by: Sequence[str]) -> list[TrainingFile]:
    """Match readings and models to files by name. Raises UserError for a wrong name or no model."""
    from bot.quality.training.arrivals import TrainingFile

    names = [path.name.partition(".")[0] for path in files]  # The name of golang-go.jsonl.gz is golang-go.
    readings_of = {path.name.partition(".")[0]: path for path in readings}
    models = {name: Path(folder) for name, _, folder in (one.partition("=") for one in compared_by)}
    for name in (*readings_of, *models):
        if name not in names:
            raise UserError(f"none of the files is named {name}; the names are {', '.join(names)}")
    for folder in models.values():
        if not (folder / "model.onnx").is_file():
            raise UserError(f"{folder} holds no text model; `doppel train FILES --text-model {folder}` makes one")
    return [
        TrainingFile(path, readings_of.get(name), models.get(name)) for path, name in zip(files, names, strict=True)
    ]


def _tune(files: Sequence[Path], folder: Path, seed: int) -> None:
    try:
        from bot.quality.training.text_model import tune

        with progress_bar("Steps of the tuning", None) as (progress, task):
            tune(files, folder, lambda done, total: progress.update(task, total=total, completed=done), seed=seed)
    except ImportError as missing:
        command = pip_install("torch", "transformers", "onnx", "onnxscript")
        raise UserError(f"{missing.name} is not installed: {command}") from None
    click.echo(f"{folder}: a text model, for `doppel train --compared-by`", err=True)
