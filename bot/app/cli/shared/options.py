"""What several commands take: options, files, and SOURCE, which is a file of issues or a repository."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from bot.domain.entities import RepoRef
from bot.domain.errors import InvalidArgument, UserError
from bot.platform import settings as host
from bot.platform.addresses import hosts_of, is_web, repository_at
from bot.platform.private_files import is_no_file, keep_to_names
from bot.platform.settings import Settings, database_url
from bot.search.ranking.relevance import DEFAULT_RELEVANCE, Relevance

READ_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""A file that is read."""

READ_FILE_OR_STDIN = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
"""The same, or - for standard input; `read_bytes` of `files.py` reads either."""

OUT = click.Path(dir_okay=False, path_type=Path)
"""A file that is written."""

PORT = click.IntRange(1, 65535)
ONE_OR_MORE = click.IntRange(1)

json_option = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


class Share(click.FloatRange):
    """A float range; click's own lets NaN pass, which no comparison refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if isinstance(number, float) and math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


class WrittenFile(click.Path):
    """A file that is written when the work is done, which can take hours: what is in its way is said before it."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("a file is written; /dev/stdout is the terminal, and ./- a file of that name", param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.absolute().parent.is_dir():
            self.fail(f"there is no folder {path.parent}", param, ctx)
        if not is_no_file(path) and not os.access(path.absolute().parent, os.W_OK | os.X_OK):
            self.fail(f"the folder {path.parent} cannot be written to", param, ctx)
        try:
            keep_to_names(path)
        except OSError as problem:
            self.fail(f"{path}: {problem.strerror}", param, ctx)
        return path


def web_address(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """An http(s) address, taken as it is written: a mistyped one is told before anything is begun."""
    if value is not None and not is_web(value):
        raise click.BadParameter(f"{value} is not an http(s) address, such as http://127.0.0.1:8000/webhook.")
    return value


def settings_with(option: str, url: str | None, otherwise: str = "DATABASE_URL") -> Settings:
    """The host's settings, with the database at `url` where the option was given; `otherwise` is used without it.

    Raises SettingsError naming the option where that is no address of a database.
    """
    if url is None:
        return host.load()
    if url:
        database_url(url, option, otherwise)
    return host.load({**os.environ, "DATABASE_URL": url})


def complete_source(_context: click.Context, _option: click.Parameter, typed: str) -> list[CompletionItem]:
    """What a shell completes: names of files."""
    return [CompletionItem(typed, type="file")]


source_argument = click.argument("source", shell_complete=complete_source)


def read_source(text: str) -> Path | RepoRef:
    """The file of that name where there is one, else the repository, by its name or its address.

    Raises UserError where it can be neither.
    """
    # A pipe is read like a file: `<(zcat …)` of a shell, or /dev/stdin.
    if Path(text).exists() and not Path(text).is_dir():
        return Path(text)
    if "://" in text:
        hosts = hosts_of(host.load().github_api_url)
        if named := repository_at(text, hosts):
            return named
        raise UserError(f"{text} is not the address of a repository on {' or '.join(sorted(hosts))}")
    if Path(text).is_dir():
        raise UserError(f"{text} is a folder; name a file of issues in it, or OWNER/REPO")
    try:
        repo = RepoRef.parse(text)
    except InvalidArgument:
        raise UserError(f"{text}: there is no such file, and it is not of the form OWNER/REPO") from None
    if text.endswith((".jsonl", ".gz", ".json")):
        raise UserError(f"{text}: there is no such file")
    return repo


seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Which sample.")


def from_option(begun: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `--from`, as `warm`; `begun` is what is done to the first arrival after them."""
    says = f"The share of issues that only arrive, before the first is {begun}."
    return click.option("--from", "warm", type=Share(0, 1), default=0.2, show_default=True, help=says)


def relevance_option(says: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `--relevance`."""
    choice = click.Choice([one.value for one in Relevance])
    return click.option("--relevance", type=choice, default=DEFAULT_RELEVANCE.value, show_default=True, help=says)


def weights_option(verb: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `--weights`, a file for `read_weights`."""
    says = f"Weights to {verb} with, made by `doppel train` [default: those that Doppel comes with]."
    return click.option("--weights", type=READ_FILE, help=says)


def read_weights(weights: Path | None) -> str:
    """The text of a file of weights; empty stands for those that come with this version.

    Raises UserError where it holds none.
    """
    if weights is None:
        return ""
    from bot.search.matching import Model

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
