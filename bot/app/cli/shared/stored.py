"""Which of the stored repositories a person means; GitHub is not asked, so that it works when it cannot be."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from bot.domain.entities import RepoRef, name_key
from bot.domain.errors import UserError
from bot.platform import settings as host
from bot.platform.settings import Settings

if TYPE_CHECKING:
    from bot.storage import Store

_NAMED_AT_MOST = 5
# Digits of an id that every database can hold; GitHub's have half as many.
_DIGITS = 18

repository_argument = click.argument("repository", metavar="OWNER/REPO")


@dataclass(frozen=True, slots=True)
class Meant:
    """A repository by GitHub's id, with its name where that is stored too."""

    id: int
    name: str


@contextmanager
def stored(text: str, *, evaluated: bool = False) -> Iterator[tuple[Settings, Store, Meant]]:
    """The host's settings and store, and the repository that `text` names there or, `evaluated`, in its history."""
    from bot.storage import open_store

    settings, others = host.load(), {}
    if evaluated:
        from bot.quality.evaluation.history import kept_repositories

        others = kept_repositories(settings.home)
    with closing(open_store(settings)) as store:
        yield settings, store, stored_repository(store, text, others)


def stored_repository(store: Store, text: str, others: Mapping[int, str] | None = None) -> Meant:
    """The repository that `text`, OWNER/REPO in any case or GitHub's id of it, names in the store.

    `others` are names by id of repositories that something is kept of elsewhere. A name can be stored for two for a
    while, when one was renamed and another took its name. Raises UserError that names what there is.
    """
    known = {**(others or {}), **{one.id: str(one.ref) for one in store.repositories.list()}}
    if text.isascii() and text.isdigit():
        if len(text) > _DIGITS:
            raise UserError(f"{text[:_DIGITS]}…: no repository has an id of more than {_DIGITS} digits")
        # An id may have rows left although its repository is no longer listed.
        return Meant(int(text), known.get(int(text), f"repository {text}"))
    name = RepoRef.parse(text).key
    found = [Meant(repo_id, known[repo_id]) for repo_id in known if name_key(known[repo_id]) == name]
    if len(found) > 1:
        ids = ", ".join(str(one.id) for one in found)
        raise UserError(f"{text} is the name of several stored repositories; give GitHub's id of one of them: {ids}")
    if not found:
        near = difflib.get_close_matches(name, sorted(known.values()), _NAMED_AT_MOST)
        listed = near or sorted(known.values())[:_NAMED_AT_MOST]
        there = f"; there is {', '.join(listed)}" if listed else "; the store holds no repository at all"
        raise UserError(f"nothing is stored about {text}{there}")
    return found[0]
