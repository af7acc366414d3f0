"""An App's manifest (`app.yml`): its permissions, events and addresses.

https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

# The simulated App's permissions if there is no manifest.
DEFAULT_PERMISSIONS = {
    "contents": "read",
    "issues": "write",
    "metadata": "read",
    "organization_projects": "read",
    "pull_requests": "read",
}
DEFAULT_EVENTS = ("issues", "issue_comment", "label", "push", "repository")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The part of a manifest that matters here."""

    name: str
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    single_files: tuple[str, ...] = ()
    hook_url: str = ""
    callback_urls: tuple[str, ...] = ()


_SHAPES: Mapping[str, type] = {
    "name": str,
    "redirect_url": str,
    "default_permissions": dict,
    "default_events": list,
    "hook_attributes": dict,
    "callback_urls": list,
    "single_file_paths": list,
}


def slug_of(name: str) -> str:
    """An App's name in addresses and in its bot's login. No two Apps may have the same slug."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


def problem(data: Any) -> str:
    """The errors that the form for new Apps finds in a manifest; empty if there are none."""
    fields = data if isinstance(data, Mapping) else {}
    wrong = [f"{name} missing" for name in ("url", "redirect_url") if not fields.get(name)]
    # A missing or empty field counts as an empty value of the right type.
    wrong += [f"{name} invalid" for name, kind in _SHAPES.items() if not isinstance(fields.get(name) or kind(), kind)]
    permissions = fields.get("default_permissions") or {}
    if not wrong and any(level not in ("read", "write", "admin") for level in permissions.values()):
        wrong.append("default_permissions invalid")
    return f"Error Invalid GitHub App configuration: {', '.join(wrong)}" if wrong else ""


def from_mapping(data: Mapping[str, Any]) -> Manifest:
    """Read a manifest as the App registration form receives it."""
    permissions = dict(data.get("default_permissions") or {})
    events, single = data.get("default_events") or (), data.get("single_file_paths") or ()
    hook = data.get("hook_attributes") or {}
    url = str(hook.get("url") or "") if hook.get("active", True) else ""
    name, callbacks = str(data.get("name") or "Doppel"), tuple(data.get("callback_urls") or ())
    return Manifest(name, permissions, tuple(events), tuple(single), url, callbacks)


@lru_cache(maxsize=8)
def from_file(path: Path) -> Manifest:
    """Read a manifest file; a missing or empty file gives the defaults above."""
    data = YAML(typ="safe").load(path) if path.is_file() else None
    return from_mapping(data) if data else Manifest("Doppel", DEFAULT_PERMISSIONS, DEFAULT_EVENTS)


def of_this_project() -> Manifest:
    """This project's manifest. The installed package contains the file, too."""
    return from_file(Path(__file__).resolve().parents[1] / "app.yml")
