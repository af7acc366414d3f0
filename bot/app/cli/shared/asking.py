"""The options of those commands that ask about past issues: how they are asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import click

from bot.app.cli.shared.options import ONE_OR_MORE, relevance_option, weights_option
from bot.quality.replay.running import INDEX, SEARCH

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


_WHERE = f"Where to look, separated by commas: {', '.join(SOURCES)}."
_OPTIONS = (
    click.option("--sources", default=_INDEX, show_default=True, callback=read_sources, help=_WHERE),
    relevance_option("What candidates are sorted by."),
    weights_option("rank"),
    click.option("--jobs", type=ONE_OR_MORE, help="Processes that share the work [default: one a processor]."),
)


def asking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--sources`, `--relevance`, `--weights` and `--jobs`."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)
