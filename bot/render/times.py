"""How long something takes, as people say it."""

from __future__ import annotations

import math

from bot.words import Words


def duration(seconds: float, say: Words) -> str:
    """So many seconds, two at least since nobody types faster, or minutes."""
    if seconds <= 90:
        return say.seconds(count=max(2, math.ceil(seconds)))
    return say.minutes(count=round(seconds / 60))
