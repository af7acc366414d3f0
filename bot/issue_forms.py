"""The headings that a repository's issue forms and templates put into every issue: they say nothing about one (F3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from bot.errors import Forbidden, Invalid, NotFound
from bot.events import RepositorySummary
from bot.events.parse import TEMPLATES
from bot.model import RepoRef
from bot.repository_settings import KEPT, OWNERS_REPOSITORY
from bot.store import Store

_KEPT_AS = "issue form headings"
# GitHub itself shows no more than a handful; each file is a request.
_FILES_MAX = 20

# A form's labels become headings of the issue ("Syntax for GitHub's form schema"). Labels of single check boxes are
# taken too, which does no harm: they never stand in a heading.
_LABEL = re.compile(r"^[ \t-]*label:[ \t]+(\S.*)$", re.MULTILINE)
_COMMENT = re.compile(r"\s#.*$")
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)


class FolderReader(Protocol):
    """The reads of GitHub that are needed here."""

    def directory(self, repo: RepoRef, path: str) -> list[str]: ...

    def file(self, repo: RepoRef, path: str) -> str | None: ...


def headings_in(name: str, text: str) -> list[str]:
    """The headings that one file supplies: a form's labels, or the headings of a Markdown template."""
    if name.endswith((".yml", ".yaml")):
        return [_COMMENT.sub("", label).strip().strip("\"'") for label in _LABEL.findall(text)]
    return [heading.rstrip("# \t") for heading in _HEADING.findall(text)] if name.endswith(".md") else []


class IssueForms:
    """Reads the headings and keeps them in the store for some minutes, as the settings are. Thread safe."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def headings(self, github: FolderReader, repository: RepositorySummary) -> tuple[str, ...]:
        """The headings of the repository's forms, or of its owner's where it has none of its own."""
        now = self._clock().timestamp()
        known = self._store.texts.get(repository.id, _KEPT_AS)
        if known is not None and now - known.fetched_at < KEPT:
            return tuple((known.text or "").splitlines())
        found: list[str] = []
        for place in (repository.ref, RepoRef(repository.ref.owner, OWNERS_REPOSITORY)):
            found = found or _read(github, place)
        self._store.texts.put(repository.id, _KEPT_AS, "\n".join(found), now)
        return tuple(found)


def _read(github: FolderReader, place: RepoRef) -> list[str]:
    try:
        names = github.directory(place, TEMPLATES)[:_FILES_MAX]
        texts = {name: github.file(place, f"{TEMPLATES}/{name}") or "" for name in names}
    except (NotFound, Forbidden, Invalid):
        # Without them a heading may be searched for that every issue has: worse, but no reason to fail.
        return []
    return list(dict.fromkeys(heading for name, text in texts.items() for heading in headings_in(name, text)))
