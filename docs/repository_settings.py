"""The settings for editors (JSON Schema) and for people (the table of docs/repository-settings.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from bot.conversation.config.field_types import accepted_values
from bot.conversation.config.schema import MIN_CONFIDENCE, SOURCES, RepoConfig, Source
from bot.conversation.messages.catalogue import english

JSON = dict[str, Any]

SCHEMA_NAME = "doppel.schema.json"
OFF_SPELLINGS = {"type": "string", "pattern": "^(?:Off|OFF)$"}


class _Schema(GenerateJsonSchema):
    """Accepts every YAML spelling of the choice `off`, and never null, which no setting accepts."""

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JSON:
        choices = schema["expected"]
        return {"anyOf": [{"enum": [*choices, False]}, OFF_SPELLINGS]} if "off" in choices else {"enum": choices}

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JSON:
        return self.generate_inner(schema["schema"])


def json_schema() -> JSON:
    """The JSON Schema of `.github/doppel.yml`; it accepts the files in which the parser finds no problem."""
    return {
        "$schema": _Schema.schema_dialect,
        **RepoConfig.model_json_schema(schema_generator=_Schema),
        "title": "Doppel's settings for a repository",
        "description": "Lies at .github/doppel.yml in the repository, or in its owner's .github repository.",
    }


def schema_text() -> str:
    """The text of the published JSON Schema."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False).replace("\\n", " ") + "\n"


def settings_table() -> str:
    """Every setting with its accepted values, its default and its effect, as a Markdown table."""
    rows = ["| setting | takes | default | what it does |", "|---|---|---|---|"]
    for path, field, default in _settings(RepoConfig()):
        takes = accepted_values(field, english(), lambda word: f"`{word}`")
        effect = " ".join((field.description or "").split())
        rows.append(f"| `{path}` | {takes} | {default} | {effect} |")
    return "\n".join(rows)


def sources_table() -> str:
    """Every source that `sources` can name, as a Markdown table."""
    return "\n".join(
        ["| source | what it is |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in SOURCES.items())]
    )


def _settings(defaults: BaseModel, path: str = "") -> Iterator[tuple[str, FieldInfo, str]]:
    for name, field in type(defaults).model_fields.items():
        default = getattr(defaults, name)
        if name == "sources":
            # All sources accept the same values, so one row stands for all of them.
            source = FieldInfo.from_annotation(Source)
            source.description = field.description
            yield "sources.NAME", source, "none"
        elif isinstance(default, BaseModel):
            yield from _settings(default, f"{path}{name}.")
        else:
            yield path + name, field, _shown(name, default)


def _shown(name: str, default: Any) -> str:
    if name == "min_confidence":
        return f"`{MIN_CONFIDENCE}`, moved by feedback"
    if default is None:
        return "`off`"
    if isinstance(default, bool):
        return "`on`" if default else "`off`"
    return "none" if isinstance(default, (tuple, dict)) else f"`{default}`"
