"""`doppel worker` as it is, but a write without an answer, and a job whose worker was killed, are waited for as many
seconds as the argument says."""

from __future__ import annotations

import functools
import sys

from bot.app import cli
from bot.app.wiring import worker_process as worker
from bot.conversation.comments import CommentWriter
from bot.deliveries import queue
from bot.deliveries import worker as jobs

if __name__ == "__main__":
    lease = float(sys.argv[1])
    queue.LEASE, jobs.RENEW_EVERY = lease, lease / 6
    writer = functools.partial(CommentWriter, lease=lease)
    worker.CommentWriter = writer  # type: ignore[assignment,attr-defined]
    cli.main(["worker"])
