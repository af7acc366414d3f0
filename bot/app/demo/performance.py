"""Runs one demo: starts the simulator, the processes and the page, plays the show, and ends everything."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from werkzeug.serving import make_server

from bot.app.demo.page import create_page
from bot.app.demo.scenario import ABOUT, ROLES, script, seed, split
from bot.app.demo.show import Show, running_bot, wait_for
from bot.app.demo.terminal import Lines, Terminal
from bot.domain.errors import UserError
from bot.platform import local
from bot.simulator import Simulator, start_simulator

#: With more issues than this, the show begins with GitHub's search and does not wait for the index.
MOST_WAITED_FOR = 2_000


def perform(tell: Terminal | Lines, repository: str, issues: Path | None, *, page: int | None = None) -> None:
    """Run the demo and report to `tell`. With `page`, a port or 0 for a free one, serve the page until interrupted.

    Raises ShowFailed or Unavailable naming what did not happen, and UserError for wrong options.
    """
    began = time.monotonic()
    if page and (problem := local.refusal("127.0.0.1", page)) is not None:
        # Check first: Werkzeug would end the process with its own message.
        raise UserError(f"--port: cannot listen on 127.0.0.1:{page}: {local.in_words(problem)}")
    try:
        rows, scenes = split(issues) if issues else (None, script())
    except (ValueError, OSError) as wrong:
        raise UserError(f"--issues: {issues} is not a file of issues: {wrong}") from wrong
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doppel-demo-", ignore_cleanup_errors=True)))
        tell.progress(what="starting the simulated GitHub, web and worker")
        server = stack.enter_context(start_simulator())
        bot = stack.enter_context(running_bot(server, home))
        tell.progress(what=f"writing the issues of {repository} into it")
        count = seed(server.sim, repository, rows)
        wait_for(bot, "web process", bot.takes_deliveries)
        server.sim.app.hook.url = bot.receiver
        server.sim.install(repository)
        # The installation is the first delivery: once its job is done, the worker is running.
        installed = server.sim.webhooks.log[-1].guid
        wait_for(bot, "worker", lambda: bot.done(installed))
        if count > MOST_WAITED_FOR:
            tell.progress(what=f"{count:,} issues are being read; until all are, the bot uses GitHub's search")
        else:
            tell.progress(what=f"reading {count:,} issues into the bot's index")
            repo_id = server.sim.repository(repository).id
            wait_for(bot, "index", lambda: (now := bot.progress(repo_id)) is not None and now.done)
        tell.ready(
            repository=repository,
            about=f"from {issues.name}" if issues else ABOUT,
            issues=count,
            simulator=server.url,
            receiver=bot.receiver,
            seconds=time.monotonic() - began,
        )
        if page is not None:
            address = stack.enter_context(_page(server.sim, repository, page))
            tell.serving(url=address)
        Show(server.sim, repository, bot, tell).play(scenes)
        if page is not None:
            tell.serving(url=address)
            while True:
                bot.check()
                time.sleep(1)


@contextmanager
def _page(simulator: Simulator, repository: str, port: int) -> Iterator[str]:
    # No log line for each request: the terminal belongs to the show.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", port, create_page(simulator, repository, list(ROLES)), threaded=True)
    threading.Thread(target=server.serve_forever, name="demo-page", daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
