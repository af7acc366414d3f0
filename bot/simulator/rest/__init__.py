"""The REST operations, a file for each resource. Importing a file registers its routes."""

from __future__ import annotations

import importlib

_FILES = (
    "app",
    "collaborators",
    "comments",
    "contents",
    "control",
    "hooks",
    "installations",
    "issues",
    "labels",
    "meta",
    "reactions",
    "repositories",
    "search",
    "suggestions",
    "timeline",
    "users",
    "visitors",
)


def load() -> None:
    """Import all files of this package, so that the table of routes is complete."""
    for name in _FILES:
        importlib.import_module(f"{__name__}.{name}")
    importlib.import_module("bot.simulator.graphql.endpoint")
