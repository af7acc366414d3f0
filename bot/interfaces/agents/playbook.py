"""Reads a playbook as a list of entries, merges them (D1, D7), and reports errors on stderr."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, ValidationError

from bot.domain.merging import Group

# JSON allows larger numbers, but nobody counts that far.
Counter = Annotated[int, Field(ge=0, lt=10**30)]


class Entry(BaseModel):
    """An entry as a playbook holds it; further keys are allowed."""

    model_config = ConfigDict(strict=True)

    # Not `str`: an agent can cut a text within an emoji, and pydantic would refuse the remaining half.
    name: InstanceOf[str]
    text: InstanceOf[str]
    helpful: Counter
    harmful: Counter


class Playbook(BaseModel):
    """A playbook as callers give it; further keys are allowed."""

    model_config = ConfigDict(strict=True)

    version: Any
    last_updated: Any
    sections: dict[str, list[Entry]]


class MalformedPlaybook(ValueError):
    """The object is no valid playbook; the message says where and why."""


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """One entry. `raw` is the entry's own object in the playbook."""

    section: str
    name: str
    text: str
    helpful: int
    harmful: int
    raw: dict[str, Any] = field(repr=False, compare=False)


def read_playbook(path: Path) -> Any:
    """The JSON of a file. Raises OSError, and MalformedPlaybook if the file holds no JSON."""
    try:
        # "utf-8-sig" skips the byte order mark that editors on Windows put before a text.
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as problem:
        raise MalformedPlaybook(f"this is not JSON: {problem}") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object. Refuse a repeated name, because JSON's reader would keep only the last value."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError(f"one of the names {list(made)} stands twice in its object")
    return made


def read_entries(playbook: Any, slugs: Sequence[str]) -> list[PlaybookEntry]:
    """All entries (D1): first the sections in `slugs`, in that order, then the others in the playbook's order.

    Raises MalformedPlaybook, also if one object stands in two places: a change in one place would change both.
    """
    try:
        Playbook.model_validate(playbook)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        path = (f"entry {part + 1}" if isinstance(part, int) else part for part in first["loc"])
        raise MalformedPlaybook(": ".join((*path, first["msg"]))) from None
    sections: dict[str, list[dict[str, Any]]] = playbook["sections"]
    section_names = [slug for slug in slugs if slug in sections] + [name for name in sections if name not in slugs]
    objects = [*(sections[name] for name in section_names), *(raw for name in section_names for raw in sections[name])]
    if len(set(map(id, objects))) < len(objects):
        raise MalformedPlaybook("sections: one object stands in two places")
    return [
        PlaybookEntry(section, raw["name"], raw["text"], raw["helpful"], raw["harmful"], raw)
        for section in section_names
        for raw in sections[section]
    ]


def apply(playbook: dict[str, Any], entries: Sequence[PlaybookEntry], groups: Sequence[Group]) -> None:
    """Merge the groups of `entries` in their playbook (D2).

    Survivors get the summed counters; absorbed entries are removed. Sections, even empty ones, and all else stay (D7).
    """
    absorbed = {id(entries[position].raw) for group in groups for position in group.absorbed}
    for group in groups:
        entries[group.survivor].raw.update({"helpful": group.helpful, "harmful": group.harmful})
    for listed in playbook["sections"].values():
        listed[:] = [raw for raw in listed if id(raw) not in absorbed]


def complain(text: str, problem: Exception | None = None) -> None:
    """Write one line to stderr, as logging may not be set up. Never raises, even if stderr or `str(problem)` fails."""
    with contextlib.suppress(Exception):
        text = text if problem is None else f"{text}: {problem}"
    with contextlib.suppress(Exception):
        line = " ".join(text.split())[:500]
        sys.stderr.write(f"deduplication: {line}\n")
