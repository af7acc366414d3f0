"""Reads a playbook as a list of entries, merges them (D1, D7), and reports errors on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.domain.merging import Group

# Python neither writes nor reads numbers of more than 4,300 digits. The sums must stay below that, too.
_TOO_LARGE = 10**4_000


class MalformedPlaybook(ValueError):
    """The object is no valid playbook; the message says where and why."""


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    """One entry, with `raw`, its object in the playbook."""

    section: str
    name: str
    text: str
    helpful: int
    harmful: int
    raw: dict[str, Any] = field(repr=False, compare=False)


def read_entries(playbook: Any, slugs: Sequence[str]) -> list[PlaybookEntry]:
    """All entries (D1): first the sections in `slugs`, in that order, then the other sections in the playbook's order.

    Raises MalformedPlaybook for missing keys, wrong types, counters that are not whole numbers from 0 on, and an object
    that occurs in two places, since changing one place would change the other.
    """
    if not isinstance(playbook, dict):
        raise MalformedPlaybook(f"a playbook is an object, not {_kind(playbook)}")
    for key in ("version", "last_updated", "sections"):
        _require(playbook, key, "the playbook")
    sections = playbook["sections"]
    if not isinstance(sections, dict):
        raise MalformedPlaybook(f"sections: must be an object, not {_kind(sections)}")
    entries: list[PlaybookEntry] = []
    seen: set[int] = set()
    for section in [slug for slug in slugs if slug in sections] + [name for name in sections if name not in slugs]:
        if not isinstance(section, str):
            raise MalformedPlaybook(f"sections: the name {section!r} is no text")
        listed = sections[section]
        if not isinstance(listed, list):
            raise MalformedPlaybook(f"sections: {section}: must be a list, not {_kind(listed)}")
        for place, raw in enumerate(listed):
            entries.append(_entry(section, raw, f"sections: {section}: entry {place + 1}"))
        for one in (listed, *listed):
            if id(one) in seen:
                raise MalformedPlaybook(
                    f"sections: {section}: holds an object that stands elsewhere in the playbook too"
                )
            seen.add(id(one))
    return entries


def apply(playbook: dict[str, Any], entries: Sequence[PlaybookEntry], groups: Sequence[Group]) -> None:
    """Merge the groups of `entries` in their playbook: survivors get the sums, absorbed entries are removed (D2).

    Sections stay, even empty ones; nothing else is touched (D7). If an exception, even Ctrl-C, interrupts the merge,
    the playbook is restored (D5).
    """
    absorbed = {id(entries[position].raw) for group in groups for position in group.absorbed}
    before = [(listed, list(listed)) for listed in playbook["sections"].values()]
    survivors = [(entries[group.survivor], group) for group in groups if group.absorbed]
    try:
        for entry, group in survivors:
            entry.raw.update({"helpful": group.helpful, "harmful": group.harmful})
        for listed, original in before:
            if any(id(raw) in absorbed for raw in original):
                listed[:] = [raw for raw in original if id(raw) not in absorbed]
    except BaseException:
        for entry, _ in survivors:
            if (entry.raw["helpful"], entry.raw["harmful"]) != (entry.helpful, entry.harmful):
                entry.raw.update({"helpful": entry.helpful, "harmful": entry.harmful})
        for listed, original in before:
            if listed != original:
                listed[:] = original
        raise


def complain(text: str, problem: Exception | None = None) -> None:
    """Write one line to stderr, even if logging is not set up. Never raises, even if stderr is closed."""
    with contextlib.suppress(Exception):
        text = text if problem is None else f"{text}: {problem}"
    with contextlib.suppress(Exception):
        line = " ".join(text.split())[:500]
        sys.stderr.write(f"deduplication: {line}\n")


def _entry(section: str, raw: Any, where: str) -> PlaybookEntry:
    if not isinstance(raw, dict):
        raise MalformedPlaybook(f"{where}: must be an object, not {_kind(raw)}")
    for key in ("name", "text"):
        _require(raw, key, where)
        if not isinstance(raw[key], str):
            raise MalformedPlaybook(f"{where}: {key}: must be a text, not {_kind(raw[key])}")
    for key in ("helpful", "harmful"):
        _require(raw, key, where)
        value = raw[key]
        if isinstance(value, int) and abs(value) >= _TOO_LARGE:
            raise MalformedPlaybook(f"{where}: {key}: is too large a number")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise MalformedPlaybook(f"{where}: {key}: must be a whole number from 0 on, not {str(value)[:40]}")
    return PlaybookEntry(section, raw["name"], raw["text"], raw["helpful"], raw["harmful"], raw)


def _require(holder: dict[Any, Any], key: str, where: str) -> None:
    if key not in holder:
        raise MalformedPlaybook(f"{where} has no {key!r}")


def _kind(value: object) -> str:
    """A value's type, in JSON's words."""
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return "null" if value is None else names.get(type(value), type(value).__name__)
