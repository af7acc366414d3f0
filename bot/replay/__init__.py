"""Past issues run through the finder as it runs in the bot, in order of arrival, with GitHub's search simulated."""

from __future__ import annotations

from bot.replay.archive import Archive, PastIssue, read_archive
from bot.replay.github import ReplayGitHub
from bot.replay.running import Answered, FutureLeak, choose, replay

__all__ = ["Answered", "Archive", "FutureLeak", "PastIssue", "ReplayGitHub", "choose", "read_archive", "replay"]
