"""Finds which surface of a product (app, platform, editor, …) an issue is about, by its labels. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

# In `os: windows`, the kind is `os`. An issue is usually about one surface of each kind. Areas can
# overlap, so `area` is not listed. Labels of unlisted kinds count only with a name in `_SURFACES`.
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
    """Labels, one of `mine` and one of `theirs`, of different surfaces (`cli`, `vscode`), or None.

    Surfaces are compared within each kind. If the issues share a surface of a kind, that kind does not tell them apart.
    """
    here, there = _surfaces(mine), _surfaces(theirs)
    for kind in sorted(here.keys() & there.keys()):
        if here[kind].keys().isdisjoint(there[kind]):
            return min(here[kind].values()), min(there[kind].values())
    return None


def _surfaces(labels: Iterable[str]) -> dict[str, dict[str, str]]:
    """By kind: the surfaces, each with its label. Labels without a listed kind have kind ""."""
    found: dict[str, dict[str, str]] = {}
    for label in labels:
        parts = _PARTS.split(label.casefold().strip(), maxsplit=1)
        kind, name = parts[0], re.sub(r"[\s_]+", "-", parts[-1])
        if kind in _KINDS and len(parts) == 2:
            found.setdefault(kind, {})[name] = label
        elif name in _SURFACES:
            found.setdefault("", {})[name] = label
    return found
