"""Runs past issues through the bot's finder in order of arrival, over an index or over a simulated GitHub search."""

from __future__ import annotations

from bot.replay.archive import PastIssue, read_archive
from bot.replay.github import ReplayGitHub
from bot.replay.indexed import replay_index, replay_search
from bot.replay.running import Asking, FutureLeak, Mirror, choose, replay

__all__ = [
    "Asking",
    "FutureLeak",
    "Mirror",
    "PastIssue",
    "ReplayGitHub",
    "choose",
    "read_archive",
    "replay",
    "replay_index",
    "replay_search",
]
