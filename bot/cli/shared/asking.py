"""The options of those commands that ask about past issues: how they are asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click

from bot.cli.shared.files import READ_FILE
from bot.cli.shared.shares import Share
from bot.errors import UserError
from bot.matching import Model
from bot.ranking.relevance import DEFAULT_RELEVANCE, Relevance
from bot.replay.asking import INDEX, SEARCH
from bot.settings import database_url

_INDEX = "index"
SOURCES = (_INDEX, *INDEX, *SEARCH)


def read_sources(_context: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    """The option `--sources`: names of sources, of one kind. Raises BadParameter naming what there is."""
    given = tuple(name.strip() for name in value.split(","))
    if unknown := [name for name in given if name not in SOURCES]:
        raise click.BadParameter(f"there is no source {unknown[0]!r}; there are: {', '.join(SOURCES)}")
    names = tuple(dict.fromkeys(name for one in given for name in (INDEX if one == _INDEX else (one,))))
    if len({name in SEARCH for name in names}) > 1:
        raise click.BadParameter(f"sources of the index and {' or '.join(SEARCH)} are replayed apart")
    if SEARCH[1] in names and SEARCH[0] not in names:
        raise click.BadParameter(f"{SEARCH[1]} needs {SEARCH[0]}")
    return names


def read_store(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """The option `--store`, in the ways of writing it that DATABASE_URL knows."""
    return database_url(value, "--store", "SQLite in a file that is deleted again") if value else ""


_OPTIONS = (
    click.option(
        "--sources",
        default=SOURCES[0],
        show_default=True,
        callback=read_sources,
        help=f"Where to look, separated by commas: {', '.join(SOURCES)}.",
    ),
    click.option(
        "--relevance",
        type=click.Choice([one.value for one in Relevance]),
        default=DEFAULT_RELEVANCE.value,
        show_default=True,
        help="What candidates are sorted by.",
    ),
    click.option(
        "--weights",
        type=READ_FILE,
        help="Weights to rank with, made by `doppel train` [default: those that Doppel comes with].",
    ),
    click.option(
        "--store",
        default="",
        metavar="URL",
        callback=read_store,
        help="The database of the index [default: a file, deleted again].",
    ),
    click.option("--jobs", type=click.IntRange(1), help="Processes that share the work [default: one a processor]."),
)


seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Which sample.")


def from_option(begun: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `--from`, as `warm`; `begun` is what is done to the first arrival after them."""
    return click.option(
        "--from",
        "warm",
        type=Share(0, 1),
        default=0.2,
        show_default=True,
        help=f"The share of issues that only arrive, before the first is {begun}.",
    )


def asking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--sources`, `--relevance`, `--weights`, `--store` and `--jobs`."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


def read_weights(weights: Path | None) -> str:
    """The text of a file of weights; empty stands for those that come with this version.

    Raises UserError where it holds none.
    """
    if weights is None:
        return ""
    try:
        text = weights.read_text(encoding="utf-8")
        Model.parse(text)
    # What is nested too deeply for the parser is no file of ours either.
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        # A KeyError says no more than the name.
        why = f"there is no {problem} in it" if isinstance(problem, KeyError) else str(problem)
        raise UserError(
            f"--weights: {weights} holds no weights of this version: {why}; `doppel train` makes such"
        ) from None
    return text
