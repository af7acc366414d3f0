"""`doppel worker` as it is, but a write without an answer is waited for as long as the argument says, in seconds."""

from __future__ import annotations

import functools
import sys

from bot import cli
from bot.comments import CommentKeeper
from bot.wiring import worker

if __name__ == "__main__":
    worker.CommentKeeper = functools.partial(CommentKeeper, lease=float(sys.argv[1]))  # type: ignore[misc,assignment]
    cli.main(["worker"])
