"""Boilerplate: the text that a repository's issue forms and templates put into every issue (F3).

The headings of forms are not used as search words, and the lines of forms do not count in the index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from bot.conversation.config.yaml_tree import SIZE_MAX, YamlNode, read_tree
from bot.deliveries.payloads import TEMPLATE_FOLDERS, TEMPLATE_NAMES, TEMPLATES
from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import Forbidden, Invalid, NotFound
from bot.github.repository import RepoClient
from bot.search.repository_settings import OWNERS_REPOSITORY
from bot.storage import Store

KEPT = 3600.0
"""Forms are cached for this many seconds. They seldom change, and a push that changes them clears the cache at once."""

_FORM_ENDINGS, _TEMPLATE_ENDINGS = (".yml", ".yaml"), (".md",)
_HEADINGS, _LINES = "issue form headings", "issue form lines"
# GitHub itself shows only a handful of forms, and each file costs a request.
_FILES_MAX = 20
_LINES_MAX = 2_000
FILES_SIZE_MAX = 2 * SIZE_MAX
"""The most characters of all files together: that many take up to five seconds to parse. A form has a few thousand."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# GitHub's text for an empty field.
_EMPTY = "_No response_"


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """The boilerplate of a file: the headings that it gives every issue, and all lines that authors may leave as is."""

    headings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def boilerplate_of(name: str, text: str) -> Boilerplate:
    """The boilerplate of a form or a Markdown template; the ending of its `name` says which. Other files have none."""
    text = text.replace("\r\n", "\n")
    if name.endswith(_FORM_ENDINGS):
        return _form(text)
    if name.endswith(_TEMPLATE_ENDINGS):
        headings = (heading.rstrip("# \t") for heading in _HEADING.findall(text))
        return Boilerplate(tuple(headings), tuple(_lines(_FRONT_MATTER.sub("", text))))
    return Boilerplate()


def boilerplate_of_all(files: dict[str, str]) -> list[Boilerplate]:
    """The boilerplate of `files` (texts by name). Skips a file that would bring the total above FILES_SIZE_MAX."""
    read, room = [], FILES_SIZE_MAX
    for name, text in files.items():
        if len(text) <= room:
            room -= len(text)
            read.append(boilerplate_of(name, text))
    return read


class IssueForms:
    """Reads forms and templates, and caches their boilerplate in the store. Thread safe."""

    def __init__(self, store: Store, clock: Callable[[], datetime], cache_seconds: float = KEPT) -> None:
        self._store = store
        self._clock = clock
        self._cache_seconds = cache_seconds

    def headings(self, github: RepoClient, repository: Repository) -> tuple[str, ...]:
        """The headings of the repository's forms, or of its owner's forms if the repository has none."""
        self.refresh(github, repository)
        return self._stored(repository.id, _HEADINGS)

    def last_lines(self, repo_id: int) -> tuple[str, ...]:
        """The forms' lines as last read, however long ago."""
        return self._stored(repo_id, _LINES)

    def last_headings(self, repo_id: int) -> tuple[str, ...]:
        """The forms' headings as last read, however long ago."""
        return self._stored(repo_id, _HEADINGS)

    def refresh(self, github: RepoClient, repository: Repository) -> None:
        """Read the files from GitHub, unless the cache is fresh."""
        now = self._clock().timestamp()
        known = self._store.cached_files.get(repository.id, _LINES)
        if known is not None and known.is_fresh(now, self._cache_seconds):
            return
        owners = RepoRef(repository.ref.owner, OWNERS_REPOSITORY)
        try:
            files = _read(github, repository.ref) or _read(github, owners)
        except Forbidden:
            # Access may be suspended: the cached files still apply.
            return
        parts = boilerplate_of_all(files)
        by_name = {_HEADINGS: [part.headings for part in parts], _LINES: [part.lines for part in parts]}
        # Store the lines last: `refresh` checks only the lines' time, so it repeats an interrupted refresh.
        for name, by_file in by_name.items():
            distinct = dict.fromkeys(chain.from_iterable(by_file))
            self._store.cached_files.put(repository.id, name, "\n".join(list(distinct)[:_LINES_MAX]), now)

    def _stored(self, repo_id: int, name: str) -> tuple[str, ...]:
        known = self._store.cached_files.get(repo_id, name)
        # `splitlines` would split at other characters as well.
        return tuple(known.text.split("\n")) if known and known.text else ()


def _read(github: RepoClient, repo: RepoRef) -> dict[str, str]:
    try:
        root = github.directory(repo, "")
        for folder in TEMPLATE_FOLDERS:
            # Ask only for folders in the root: a 404 counts against the rate limit, but an unchanged listing does not.
            if folder and f"{folder}/" not in root:
                continue
            names = github.directory(repo, folder) if folder else root
            if files := _files_in(github, repo, folder, names):
                return files
        return {}
    except (NotFound, Invalid):
        # Go on without forms: at worst, the bot searches for a heading that every issue has.
        return {}


def _files_in(github: RepoClient, repo: RepoRef, folder: str, names: list[str]) -> dict[str, str]:
    """The forms and templates of a folder, or its single template of the old kind."""
    has_forms_folder = f"{TEMPLATES}/" in [f"{folder}/{name}" for name in names]
    if has_forms_folder and (files := _forms(github, repo)):
        return files
    single = next((name for name in names if name.lower() in TEMPLATE_NAMES), None)
    # The ending `.md` makes `boilerplate_of` read the template as Markdown.
    return {f"{single}.md": github.file(repo, f"{folder}/{single}".lstrip("/")) or ""} if single else {}


def _forms(github: RepoClient, repo: RepoRef) -> dict[str, str]:
    names = github.directory(repo, TEMPLATES)
    # Read only forms and templates: a picture may be too large. List the other files, with empty texts: if the folder
    # has any file, the owner's forms do not apply.
    wanted = [name for name in names if name.endswith((*_FORM_ENDINGS, *_TEMPLATE_ENDINGS))][:_FILES_MAX]
    return dict.fromkeys(names, "") | {name: github.file(repo, f"{TEMPLATES}/{name}") or "" for name in wanted}


def _form(text: str) -> Boilerplate:
    """The boilerplate of a form. Labels become headings (GitHub's manual, "Syntax for GitHub's form schema")."""
    # Ignore YAML's aliases: an alias only repeats the text of its anchor.
    scalars = list(_scalars(read_tree(text, strict=False)[0]))
    labels = [" ".join(value.split()) for key, value in scalars if key == "label" and value.strip()]
    boxes = [f"- [{mark}] {label}" for label in labels for mark in "x "]
    # A field's preset text.
    values = [line for key, scalar in scalars if key == "value" for line in _lines(scalar)]
    return Boilerplate(tuple(labels), (_EMPTY, *(f"### {label}" for label in labels), *boxes, *values))


def _scalars(node: YamlNode) -> Iterator[tuple[str, str]]:
    """The pairs of a key and a scalar value, at any depth."""
    if isinstance(node.value, list):
        for item in node.value:
            yield from _scalars(item)
    elif isinstance(node.value, dict):
        for name, child in node.value.items():
            if not isinstance(child.value, (list, dict)):
                yield name, child.text
            yield from _scalars(child)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]
