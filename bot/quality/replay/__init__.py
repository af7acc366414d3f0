"""Runs past issues through the bot's finder in order of arrival, over an index or over a simulated GitHub search."""

from __future__ import annotations

from bot.quality.replay.archive import PastIssue, read_archive
from bot.quality.replay.github import ReplayGitHub
from bot.quality.replay.indexed import replay_index, replay_search
from bot.quality.replay.running import Asking, FutureLeak, Mirror, choose, replay

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
