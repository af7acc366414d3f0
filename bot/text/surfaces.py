"""Which surface of a product an issue is about, by its labels. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Of what is called so an issue is mostly about one: `os: windows` and `os: linux` are apart, two `area:` may overlap.
_NAMED_KINDS = "app browser client device editor frontend ide os package platform product runtime surface"
_KINDS = frozenset(_NAMED_KINDS.split())
_NAMED = """
android api app browser chrome cli desktop docs edge emacs extension firefox intellij ios ipad iphone jetbrains lambda
linux mac macos mobile neovim opera plugin safari sdk server tui ubuntu vim visual-studio vs-code vscode web webapp
website windows wsl xcode
"""
_SURFACES = frozenset(_NAMED.split())
_PARTS = re.compile(r"\s*[:/]\s*")


def surfaces_apart(mine: Iterable[str], theirs: Iterable[str]) -> tuple[str, str] | None:
    """A label of either where they are of different surfaces, as `cli` and `vscode` are; None where that is not said.

    Whoever has one in common with the other may well report the same.
    """
    here, there = _surfaces(mine), _surfaces(theirs)
    for kind in sorted(here.keys() & there.keys()):
        if here[kind].keys().isdisjoint(there[kind]):
            return min(here[kind].values()), min(there[kind].values())
    return None


def _surfaces(labels: Iterable[str]) -> dict[str, dict[str, str]]:
    """The surfaces by their kind, each with its label as it is written."""
    found: dict[str, dict[str, str]] = {}
    for label in labels:
        kind, *rest = _PARTS.split(label.casefold().strip(), maxsplit=1)
        name = re.sub(r"[\s_]+", "-", rest[0] if rest else kind)
        if kind in _KINDS and rest:
            found.setdefault(kind, {})[name] = label
        elif name in _SURFACES:
            found.setdefault("", {})[name] = label
    return found
