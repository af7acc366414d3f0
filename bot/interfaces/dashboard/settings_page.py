"""The settings in force as rows of a table, made from the table of settings. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel

from bot.conversation.config.schema import MIN_CONFIDENCE, RepoConfig

# What the absence of a value means, where the file has a word for it or none is needed.
_ABSENT = {"min_confidence": f"{MIN_CONFIDENCE:g}, or where feedback has put it", "limit": "all"}


class SettingRow(NamedTuple):
    """One setting: its path in the file, its value as the file would have it, and whether that is the usual one."""

    path: str
    value: str
    usual: bool


def setting_rows(config: RepoConfig) -> list[SettingRow]:
    """Every setting, in the order of the documentation."""
    return list(_rows("", config, RepoConfig()))


def _rows(path: str, value: Any, usual: Any) -> list[SettingRow]:
    if isinstance(value, BaseModel):
        return [
            row
            for name, inner in value
            for row in _rows(f"{path}.{name}" if path else name, inner, getattr(usual, name, None))
        ]
    if isinstance(value, dict) and value:
        return [
            row for name in value for row in _rows(f"{path}.{name}", value[name], usual.get(name) if usual else None)
        ]
    return [SettingRow(path, _shown(path.rpartition(".")[2], value), value == usual)]


def _shown(name: str, value: Any) -> str:
    if value is None:
        return _ABSENT.get(name, "none")
    match value:
        case True:
            return "on"
        case False:
            return "off"
        case {} if name == "sources":
            return "the usual ones"
        case () | {}:
            return "none"
        case tuple() | list() | frozenset():
            return ", ".join(map(str, value))
        case _:
            return str(value)
