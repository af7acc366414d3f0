"""Parameters that several commands take: options, files, a stored repository, and SOURCE (a file or a repository)."""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.app.cli.shared.console import file_errors
from bot.domain.entities import RepoRef, name_key
from bot.domain.errors import InvalidArgument, UserError
from bot.platform import settings as host_settings
from bot.platform.addresses import hosts_of, is_web, repository_at
from bot.platform.private_files import is_pipe_or_device, refuse_links
from bot.platform.settings import Settings
from bot.search.ranking.relevance import DEFAULT_RELEVANCE, Relevance

if TYPE_CHECKING:
    from bot.storage import Store

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

READ_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
READ_FILE_OR_STDIN = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
OUT = click.Path(dir_okay=False, path_type=Path)
PORT = click.IntRange(1, 65535)
ONE_OR_MORE = click.IntRange(1)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="The seed of the random sample.")
repository_argument = click.argument("repository", metavar="OWNER/REPO")
# With click.Path a shell completes names of files; `read_source` checks the value.
source_argument = click.argument("source", type=click.Path(readable=False))


class Share(click.FloatRange):
    """A range of floats that refuses NaN; click's FloatRange accepts NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


SHARE = Share(0, 1)


class WrittenFile(click.Path):
    """A file that a command writes at the end of its work. The work can take hours, so problems are reported first."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("write /dev/stdout for the terminal, ./- for a file named -", param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not is_pipe_or_device(path) and not os.access(path.absolute().parent, os.W_OK | os.X_OK):
            self.fail(f"the folder {path.parent} does not exist or cannot be written to", param, ctx)
        with file_errors(path):
            refuse_links(path)
        return path


def options(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def web_address(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """A callback that refuses anything but an http(s) address."""
    if value is not None and not is_web(value):
        raise click.BadParameter(f"{value} is not an http(s) address, such as http://127.0.0.1:8000/webhook.")
    return value


def from_option(verb: str) -> Decorator:
    """The option `--from` (parameter `warm`). `verb`, such as "judged", completes the help text."""
    help_text = f"This share of the issues, the earliest ones, can be found, but is not {verb}."
    return click.option("--from", "warm", type=SHARE, default=0.2, show_default=True, help=help_text)


def relevance_option(help_text: str) -> Decorator:
    choice = click.Choice([one.value for one in Relevance])
    return click.option("--relevance", type=choice, default=DEFAULT_RELEVANCE.value, show_default=True, help=help_text)


def weights_option(verb: str) -> Decorator:
    """The option `--weights`, a file for `read_weights`."""
    help_text = f"Weights to {verb} with, made by `doppel train` [default: Doppel's own weights]."
    return click.option("--weights", type=READ_FILE, help=help_text)


def read_weights(weights: Path | None) -> str:
    """The text of a weights file; empty for None. Raises UserError if the file holds no weights."""
    if weights is None:
        return ""
    from bot.search.matching import Model

    try:
        text = weights.read_text(encoding="utf-8")
        Model.parse(text)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as problem:
        raise UserError(
            f"--weights: {weights} has no weights of this version ({problem!r}); run `doppel train`"
        ) from None
    return text


def read_source(text: str) -> Path | RepoRef:
    """The file of this name if it exists, else the repository of this name or address. Raises UserError."""
    # A pipe is read like a file: a shell's `<(zcat …)`, or /dev/stdin.
    if Path(text).exists() and not Path(text).is_dir():
        return Path(text)
    if named := repository_at(text, hosts_of(host_settings.load().github_api_url)):
        return named
    try:
        repo = RepoRef.parse(text)
    except InvalidArgument:
        raise UserError(f"{text}: there is no such file, and it is not of the form OWNER/REPO") from None
    if text.endswith((".jsonl", ".gz", ".json")):
        raise UserError(f"{text}: there is no such file")
    return repo


@dataclass(frozen=True, slots=True)
class NamedRepository:
    """A repository's id on GitHub, and its stored name, or `repository ID` if no name is stored."""

    id: int
    name: str


@contextmanager
def stored(text: str, *, evaluated: bool = False) -> Iterator[tuple[Settings, Store, NamedRepository]]:
    """Settings, store and repository `text`. `evaluated` also admits repositories with only an evaluation history."""
    from bot.quality.evaluation.history import repositories_with_history
    from bot.storage import open_store

    settings = host_settings.load()
    with closing(open_store(settings)) as store:
        others = repositories_with_history(settings.home) if evaluated else {}
        yield settings, store, stored_repository(store, text, others)


def stored_repository(store: Store, text: str, others: Mapping[int, str]) -> NamedRepository:
    """The repository that `text` names: OWNER/REPO in any case, or GitHub's id. Raises UserError.

    `others` maps ids to names of further repositories, which the store may lack.
    """
    known = {**others, **{one.id: str(one.ref) for one in store.repositories.list()}}
    # An id of up to 18 digits fits into every database. GitHub's ids have half as many digits.
    if re.fullmatch("[0-9]{1,18}", text):
        # The store may still hold rows of a repository that it no longer lists.
        return NamedRepository(int(text), known.get(int(text), f"repository {text}"))
    key = RepoRef.parse(text).key
    found = [NamedRepository(id, name) for id, name in known.items() if name_key(name) == key]
    if len(found) > 1:
        ids = ", ".join(str(one.id) for one in found)
        raise UserError(f"{text} is the name of several stored repositories; give GitHub's id of one of them: {ids}")
    if not found:
        names = sorted(known.values())
        near = difflib.get_close_matches(key, names, 5) or names[:5] or ["no repository at all"]
        raise UserError(f"nothing is stored about {text}; there is {', '.join(near)}")
    return found[0]
