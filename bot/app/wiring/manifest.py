"""The events and permissions of the App's manifest (app.yml), derived from the table of routes."""

from __future__ import annotations

from handlers import ROUTES
from handlers.router import Level

# GitHub sends the first two events to every App, and a manifest cannot name them; the last three are Doppel's own
# (`bot.deliveries.events`).
NOT_REQUESTED = frozenset({"installation", "installation_repositories", "index", "scan", "evaluation"})


def events() -> frozenset[str]:
    return frozenset(route.event for route in ROUTES) - NOT_REQUESTED


def permissions() -> dict[str, Level]:
    """The union of the routes' permissions; `write` wins over `read`."""
    union: dict[str, Level] = {}
    for route in ROUTES:
        for name, level in route.permissions.items():
            union[name] = "write" if "write" in (level, union.get(name)) else "read"
    return union
