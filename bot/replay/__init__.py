"""Past issues run through the finder as it runs in the bot, in order of arrival: over an index, or GitHub's search
simulated."""

from __future__ import annotations

from bot.replay.archive import PastIssue, read_archive
from bot.replay.asking import Asking
from bot.replay.github import ReplayGitHub
from bot.replay.indexed import replay_index, replay_search
from bot.replay.running import FutureLeak, Mirror, choose, replay

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
