"""`doppel worker` as it is, but a write without an answer is waited for as long as the argument says, in seconds."""

from __future__ import annotations

import functools
import sys

from bot.app import cli
from bot.app.wiring import worker_process as worker
from bot.conversation.comments import CommentKeeper

if __name__ == "__main__":
    keeper = functools.partial(CommentKeeper, lease=float(sys.argv[1]))
    worker.CommentKeeper = keeper  # type: ignore[assignment,attr-defined]
    cli.main(["worker"])
