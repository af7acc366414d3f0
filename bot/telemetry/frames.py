"""Where an error came from, without what it says."""

from __future__ import annotations

import traceback


def frames(error: BaseException) -> list[str]:
    """The frames of its traceback, one line each, the outermost first."""
    return [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
