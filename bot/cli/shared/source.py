"""SOURCE, which several commands take: a file of issues, or a repository."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from bot import settings as host
from bot.addresses import hosts_of, repository_at
from bot.errors import InvalidArgument, UserError
from bot.model import RepoRef

_OF_FILES = (".jsonl", ".gz", ".json")


def complete_source(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """What a shell completes: names of files."""
    return [CompletionItem(typed, type="file")]


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
    if text.endswith(_OF_FILES):
        raise UserError(f"{text}: there is no such file")
    return repo
