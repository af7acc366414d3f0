"""What a repository's issue forms and templates put into every issue: it says nothing about one (F3).

Their headings are no search words, and none of their lines is evidence in the index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from bot.config.tree import SIZE_MAX, Node, read_tree
from bot.errors import Forbidden, Invalid, NotFound
from bot.events.parse import TEMPLATE_FOLDERS, TEMPLATE_NAMES, TEMPLATES
from bot.github.repository.repo import RepoClient
from bot.model import RepoRef, Repository
from bot.repositories.settings import OWNERS_REPOSITORY
from bot.store import Store

KEPT = 3600.0
"""Seconds for which forms are remembered. They change seldom, and a push to them ends that at once."""

# How the names of the files end.
_FORMS, _TEMPLATES = (".yml", ".yaml"), (".md",)
_HEADINGS, _LINES = "issue form headings", "issue form lines"
# GitHub itself shows no more than a handful; each file is a request.
_FILES_MAX = 20
_LINES_MAX = 2_000
FILES_SIZE_MAX = 2 * SIZE_MAX
"""Characters of all files together; a form has a few thousand. The parser needs five seconds for the worst ones."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# What GitHub writes where somebody leaves a field empty.
_EMPTY = "_No response_"


@dataclass(frozen=True, slots=True)
class Supplied:
    """What one file supplies: the headings of every issue, and all lines as they stand where an author leaves them."""

    headings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def supplied_by(name: str, text: str) -> Supplied:
    """What a form, a Markdown template or a file of another kind supplies; which it is says its name."""
    text = text.replace("\r\n", "\n")
    if name.endswith(_FORMS):
        return _form(text)
    if name.endswith(_TEMPLATES):
        headings = (heading.rstrip("# \t") for heading in _HEADING.findall(text))
        return Supplied(tuple(headings), tuple(_lines(_FRONT_MATTER.sub("", text))))
    return Supplied()


def supplied_by_all(files: dict[str, str]) -> list[Supplied]:
    """What each file supplies, by its name. One for which those before it leave no room is left out."""
    read, room = [], FILES_SIZE_MAX
    for name, text in files.items():
        if len(text) <= room:
            room -= len(text)
            read.append(supplied_by(name, text))
    return read


class IssueForms:
    """Reads the files and keeps what they supply in the store, for all workers. Thread safe."""

    def __init__(self, store: Store, clock: Callable[[], datetime], kept: float = KEPT) -> None:
        self._store = store
        self._clock = clock
        self._kept = kept

    def headings(self, github: RepoClient, repository: Repository) -> tuple[str, ...]:
        """The headings of the repository's forms, or of its owner's where it has none of its own."""
        self.refresh(github, repository)
        return self._stored(repository.id, _HEADINGS)

    def last_read(self, repo_id: int) -> tuple[str, ...]:
        """The lines of the forms as they were last read; none where they never were."""
        return self._stored(repo_id, _LINES)

    def last_headings(self, repo_id: int) -> tuple[str, ...]:
        """Their headings as they were last read."""
        return self._stored(repo_id, _HEADINGS)

    def refresh(self, github: RepoClient, repository: Repository) -> None:
        """Read the files if that was long ago."""
        now = self._clock().timestamp()
        known = self._store.texts.get(repository.id, _LINES)
        if known is not None and known.is_fresh(now, self._kept):
            return
        files: dict[str, str] = {}
        try:
            for place in (repository.ref, RepoRef(repository.ref.owner, OWNERS_REPOSITORY)):
                files = files or _read(github, place)
        except Forbidden:
            # That says nothing of the files: while access rests, say, what was read before holds.
            return
        supplied = supplied_by_all(files)
        # The second last, since it is the one that is looked at.
        for name, texts in ((_HEADINGS, [one.headings for one in supplied]), (_LINES, [one.lines for one in supplied])):
            each = dict.fromkeys(chain.from_iterable(texts))
            self._store.texts.put(repository.id, name, "\n".join(list(each)[:_LINES_MAX]), now)

    def _stored(self, repo_id: int, name: str) -> tuple[str, ...]:
        known = self._store.texts.get(repo_id, name)
        # Only at what `refresh` joined them by: a line may hold other signs that end one for Python.
        return tuple(known.text.split("\n")) if known and known.text else ()


def _read(github: RepoClient, place: RepoRef) -> dict[str, str]:
    try:
        root = github.directory(place, "")
        for folder in TEMPLATE_FOLDERS:
            # What is not there is not asked for: GitHub charges for a 404, and not for what it says is unchanged.
            if folder and f"{folder}/" not in root:
                continue
            names = github.directory(place, folder) if folder else root
            if files := _in(github, place, folder, names):
                return files
        return {}
    except (NotFound, Invalid):
        # Without them a heading may be searched for that every issue has: worse, but no reason to fail.
        return {}


def _in(github: RepoClient, place: RepoRef, folder: str, names: list[str]) -> dict[str, str]:
    """What a folder that lists these names has: forms and templates, or else the one template of former times, which is
    Markdown by whatever name ("Manually creating a single issue template")."""
    outer, _, inner = TEMPLATES.rpartition("/")
    if folder == outer and f"{inner}/" in names and (files := _forms(github, place)):
        return files
    single = next((name for name in names if name.lower() in TEMPLATE_NAMES), None)
    return {f"{single}.md": github.file(place, f"{folder}/{single}".lstrip("/")) or ""} if single else {}


def _forms(github: RepoClient, place: RepoRef) -> dict[str, str]:
    names = github.directory(place, TEMPLATES)
    # A picture beside them may be too large to be read. Whatever is there, the owner's do not count.
    read = [name for name in names if name.endswith((*_FORMS, *_TEMPLATES))][:_FILES_MAX]
    return dict.fromkeys(names, "") | {name: github.file(place, f"{TEMPLATES}/{name}") or "" for name in read}


def _form(text: str) -> Supplied:
    """A form's labels become headings of the issue ("Syntax for GitHub's form schema").

    Those of single check boxes are taken too, which does no harm: they never stand in a heading.
    """
    # What an alias repeats stands in the file already, at its anchor.
    said = list(_said(read_tree(text, strict=False)[0]))
    labels = [label for label in (" ".join(text.split()) for key, text in said if key == "label") if label]
    boxes = [f"- [{mark}] {label}" for label in labels for mark in "x "]
    # A field's own text, which people write over or around.
    values = [line for key, text in said if key == "value" for line in _lines(text)]
    return Supplied(tuple(labels), (_EMPTY, *(f"### {label}" for label in labels), *boxes, *values))


def _said(node: Node) -> Iterator[tuple[str, str]]:
    """Each key with a single value, wherever it stands, and the value."""
    if isinstance(node.value, list):
        for item in node.value:
            yield from _said(item)
    elif isinstance(node.value, dict):
        for name, value in node.value.items():
            if not isinstance(value.value, (list, dict)):
                yield name, value.text
            yield from _said(value)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]
