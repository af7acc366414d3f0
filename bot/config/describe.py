"""The table of settings for editors (JSON Schema) and for people (the table of docs/repository-settings.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bot.config.keys import KEYS, ROOT, SOURCES, Key, Section
from bot.config.kinds import JSON
from bot.config.model import RepoConfig

SCHEMA_NAME = "doppel.schema.json"


def json_schema() -> JSON:
    """The JSON Schema of `.github/doppel.yml`; it accepts what the parser accepts without a problem."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Doppel's settings for a repository",
        "description": "Lies at .github/doppel.yml in the repository, or in its owner's .github repository.",
        **ROOT.schema(),
    }


def schema_text() -> str:
    """The JSON Schema as the file that is published."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def settings_table() -> str:
    """Every setting with what it takes, its default and what it does, as a Markdown table."""
    rows = ["| setting | takes | default | what it does |", "|---|---|---|---|"]
    for path, key, default in _settings(KEYS, RepoConfig()):
        rows.append(f"| `{path}` | {key.kind.words} | {key.default or _shown(default)} | {key.says} |")
    return "\n".join(rows)


def sources_table() -> str:
    """Every source that can be named under `sources`."""
    return "\n".join(
        ["| source | what it is |", "|---|---|", *(f"| `{name}` | {says} |" for name, says in SOURCES.items())]
    )


def _settings(keys: tuple[Key, ...], defaults: Any, path: str = "") -> Iterator[tuple[str, Key, Any]]:
    for key in keys:
        if key.name == "sources":
            # All sources take the same, so one row stands for them.
            yield "sources.NAME", Key(key.name, key.kind.keys[0].kind, key.says), {}  # type: ignore[attr-defined]
        elif isinstance(key.kind, Section):
            yield from _settings(key.kind.keys, getattr(defaults, key.name), f"{path}{key.name}.")
        else:
            yield path + key.name, key, getattr(defaults, key.name)


def _shown(default: Any) -> str:
    if default is None:
        return "`off`"
    if isinstance(default, bool):
        return "`on`" if default else "`off`"
    if isinstance(default, (tuple, dict)):
        return "none"
    return f"`{default}`"
