"""Finds which surface of a product (app, platform, editor, …) an issue is about, by its labels. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

# In `os: windows`, the kind is `os` and the name is `windows`. An issue is usually about one surface of each kind.
# Areas can overlap, so `area` is not listed. A label of an unlisted kind counts only if its name is in `_SURFACES`.
_KIND_LIST = "app browser client device editor frontend ide os package platform product runtime surface"
_KINDS = frozenset(_KIND_LIST.split())
_SURFACE_LIST = """
android api app browser chrome cli desktop docs edge emacs extension firefox intellij ios ipad iphone jetbrains lambda
linux mac macos mobile neovim opera plugin safari sdk server tui ubuntu vim visual-studio vs-code vscode web webapp
website windows wsl xcode
"""
_SURFACES = frozenset(_SURFACE_LIST.split())
_PARTS = re.compile(r"\s*[:/]\s*")


def surfaces_apart(mine: Iterable[str], theirs: Iterable[str]) -> tuple[str, str] | None:
    """One label of `mine` and one of `theirs` that name different surfaces (`cli`, `vscode`); None without such labels.

    Surfaces are compared within each kind. If the issues share a surface of a kind, that kind does not tell them apart.
    """
    here, there = _surfaces(mine), _surfaces(theirs)
    for kind in sorted(here.keys() & there.keys()):
        if here[kind].keys().isdisjoint(there[kind]):
            return min(here[kind].values()), min(there[kind].values())
    return None


def _surfaces(labels: Iterable[str]) -> dict[str, dict[str, str]]:
    """Maps each kind to its surfaces, and each surface to its label. Labels without a listed kind get the kind ""."""
    found: dict[str, dict[str, str]] = {}
    for label in labels:
        *prefix, last = _PARTS.split(label.casefold().strip(), maxsplit=1)
        kind = prefix[0] if prefix and prefix[0] in _KINDS else ""
        name = re.sub(r"[\s_]+", "-", last)
        if kind or name in _SURFACES:
            found.setdefault(kind, {})[name] = label
    return found
