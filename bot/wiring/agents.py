"""What the tools for agents work with."""

from __future__ import annotations

from functools import partial

from bot.calls import get_tool_call_tracker
from bot.mcp.tools import Tools
from bot.model import RepoRef
from bot.settings import Settings
from bot.wiring.clients import build_github, now, reader
from bot.wiring.indexes import known_repository, open_scan


def agent_tools(settings: Settings) -> Tools:
    """What `doppel mcp` serves, for repositories that `reader` can read."""
    github = build_github(settings)
    return Tools(
        partial(reader, settings, github),
        open_known=partial(known_repository, settings),
        open_scan=partial(open_scan, settings),
        tracker=get_tool_call_tracker(),
        clock=now,
        default=RepoRef.parse(settings.default_repository) if settings.default_repository else None,
    )
