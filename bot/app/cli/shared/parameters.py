"""What several commands take: options, files, and SOURCE, which is a file of issues or a repository."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from bot.domain.entities import RepoRef, name_key
from bot.domain.errors import InvalidArgument, UserError
from bot.platform import settings as host
from bot.platform.addresses import hosts_of, is_web, repository_at
from bot.platform.private_files import is_no_file, keep_to_names
from bot.platform.settings import Settings, database_url
from bot.quality.replay.replay import INDEX, SEARCH
from bot.search.ranking.relevance import DEFAULT_RELEVANCE, Relevance

if TYPE_CHECKING:
    from bot.storage import Store


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


_NAMED_AT_MOST = 5
# Digits of an id that every database can hold; GitHub's have half as many.
_DIGITS = 18

repository_argument = click.argument("repository", metavar="OWNER/REPO")


@dataclass(frozen=True, slots=True)
class NamedRepository:
    """A repository by GitHub's id, with its name where that is stored too."""

    id: int
    name: str


@contextmanager
def stored(text: str, *, evaluated: bool = False) -> Iterator[tuple[Settings, Store, NamedRepository]]:
    """The host's settings and store, and the repository that `text` names there or, `evaluated`, in its history."""
    from bot.storage import open_store

    settings, others = host.load(), {}
    if evaluated:
        from bot.quality.evaluation.history import repositories_with_history

        others = repositories_with_history(settings.home)
    with closing(open_store(settings)) as store:
        yield settings, store, stored_repository(store, text, others)


def stored_repository(store: Store, text: str, others: Mapping[int, str] | None = None) -> NamedRepository:
    """The repository that `text`, OWNER/REPO in any case or GitHub's id of it, names in the store.

    `others` are names by id of repositories that something is kept of elsewhere. A name can be stored for two for a
    while, when one was renamed and another took its name. Raises UserError that names what there is.
    """
    known = {**(others or {}), **{one.id: str(one.ref) for one in store.repositories.list()}}
    if text.isascii() and text.isdigit():
        if len(text) > _DIGITS:
            raise UserError(f"{text[:_DIGITS]}…: no repository has an id of more than {_DIGITS} digits")
        # An id may have rows left although its repository is no longer listed.
        return NamedRepository(int(text), known.get(int(text), f"repository {text}"))
    name = RepoRef.parse(text).key
    found = [NamedRepository(repo_id, known[repo_id]) for repo_id in known if name_key(known[repo_id]) == name]
    if len(found) > 1:
        ids = ", ".join(str(one.id) for one in found)
        raise UserError(f"{text} is the name of several stored repositories; give GitHub's id of one of them: {ids}")
    if not found:
        near = difflib.get_close_matches(name, sorted(known.values()), _NAMED_AT_MOST)
        listed = near or sorted(known.values())[:_NAMED_AT_MOST]
        there = f"; there is {', '.join(listed)}" if listed else "; the store holds no repository at all"
        raise UserError(f"nothing is stored about {text}{there}")
    return found[0]
