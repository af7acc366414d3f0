"""Child processes: web and worker under a supervisor (`doppel serve`, the demo), and pools that end with their parent.

If a child keeps exiting by itself, `Supervisor.check` raises an error, and the caller ends everything: a person must
fix the cause. More deaths by signals are allowed: a poison job kills several workers before the queue gives the job up.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import IO, Any, TypeVar

from bot.domain.errors import DoppelError, Unavailable

log = logging.getLogger(__name__)

T = TypeVar("T")

GUNICORN = (sys.executable, "-m", "gunicorn", "--config", "python:bot.gunicorn_conf", "bot.web:create_app()")
WORKER = (sys.executable, "-m", "bot", "worker")
PROXY = (sys.executable, "-m", "bot", "proxy")

# The Dockerfile and the Procfile's worker set these too. Linear algebra gets one thread: several only wait for each
# other. glibc gets one arena, and large arrays stay outside: otherwise glibc would not free the memory of old searches.
ENVIRON = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "16777216"}

RESTART_AFTER_SECONDS = 1.0
# `keeps_dying` is true if a child exits EXITS times by itself within WITHIN_SECONDS, or if signals kill the child KILLS
# times within KILLS_WITHIN_SECONDS. One poison job kills fewer than KILLS workers.
EXITS, WITHIN_SECONDS = 8, 60.0
KILLS, KILLS_WITHIN_SECONDS = 50, 600.0

# Heroku and Kubernetes give a process 30 seconds between SIGTERM and SIGKILL.
STOP_WITHIN_SECONDS = 27.0


class Supervisor:
    """Keeps the named commands running, with the variables of `ENVIRON` and `environ`; `environ` overrides `ENVIRON`.

    Children run in `cwd` and write to `output`. These and `environ` default to this process's own.
    """

    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        environ: Mapping[str, str] | None = None,
        *,
        cwd: Path | None = None,
        output: IO[bytes] | None = None,
    ) -> None:
        self._commands = dict(commands)
        self._environ = {**ENVIRON, **(os.environ if environ is None else environ)}
        self._cwd, self._output = cwd, output
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        # The time and exit code of each death.
        self._deaths: dict[str, list[tuple[float, int]]] = {name: [] for name in commands}
        self._stopping = threading.Event()

    def start(self) -> None:
        """Start every child, each in a session of its own, so that Ctrl-C reaches only this process."""
        for name in self._commands:
            self._start(name)

    def _start(self, name: str) -> None:
        self._children[name] = subprocess.Popen(
            list(self._commands[name]),
            env=self._environ,
            cwd=self._cwd,
            start_new_session=True,
            preexec_fn=_terminate_with_parent if sys.platform == "linux" else None,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
        )

    def add(self, commands: Mapping[str, Sequence[str]]) -> None:
        for name, command in commands.items():
            self._commands[name], self._deaths[name] = command, []
            self._start(name)

    def pid(self, name: str) -> int:
        return self._children[name].pid

    def check(self, now: float) -> None:
        """Restart children that have died. Raises Unavailable if a child keeps dying. `now` is in monotonic seconds."""
        for name, child in list(self._children.items()):
            if child.poll() is None:
                continue
            deaths = [death for death in self._deaths[name] if now - death[0] < KILLS_WITHIN_SECONDS]
            self._deaths[name] = [*deaths, (now, child.returncode)]
            if keeps_dying(self._deaths[name], now):
                raise Unavailable(f"{name} keeps ending, {len(deaths) + 1} times by now, last with {child.returncode}")
            log.warning("%s ended with %s; it is started again", name, child.returncode)
            # gunicorn's own children outlive it for a while and would share the port with the new gunicorn.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            self._start(name)

    def run(self, until: Callable[[], bool] = lambda: False, every: float = RESTART_AFTER_SECONDS) -> bool:
        """Watch the children; return True once `until` is true. At SIGTERM or SIGINT, stop them and return False."""

        def on_signal(number: int, frame: FrameType | None) -> None:
            self._stopping.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, on_signal)
        while not self._stopping.wait(every):
            self.check(time.monotonic())
            if until():
                return True
        self.stop()
        return False

    def stop(self) -> None:
        """End every child by SIGTERM; those that outlive the grace period are killed."""
        for child in self._children.values():
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + STOP_WITHIN_SECONDS
        for name, child in self._children.items():
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.error("%s did not stop in time and is killed", name)
                child.kill()
                child.wait()


def keeps_dying(deaths: Sequence[tuple[float, int]], now: float) -> bool:
    """Whether to give a child up. Each death has a time and an exit code, which is negative for a signal. Pure."""
    # `check` keeps only the deaths of the last KILLS_WITHIN_SECONDS.
    kills = sum(code < 0 for _, code in deaths)
    exits = sum(code >= 0 and now - at < WITHIN_SECONDS for at, code in deaths)
    return exits >= EXITS or kills >= KILLS


def _terminate_with_parent() -> None:
    """Ask Linux to end this child when its parent is killed, so that it does not keep the port (prctl(2))."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


_starting = threading.Lock()


@contextmanager
def running_in_processes(
    processes: int,
    work: Callable[..., T],
    calls: Iterable[tuple[Any, ...]],
    begin: Callable[..., None],
    *begin_arguments: Any,
) -> Iterator[list[Future[T]]]:
    """Call `work(*call)` for each of the `calls`, in fresh interpreters that first call `begin(*begin_arguments)`.

    The processes end at once when the block or this process ends. Raises DoppelError if one of them is killed.
    """
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin, (begin, begin_arguments))
    own: set[BaseProcess] = set()
    try:
        # The pool starts processes when it gets work. The lock keeps other pools' out of `own`.
        with _starting, _signals_blocked():
            others = set(multiprocessing.active_children())
            futures = [pool.submit(work, *call) for call in calls]
            own = set(multiprocessing.active_children()) - others
        yield futures
    except BrokenProcessPool:
        raise DoppelError("a process was killed, perhaps for lack of memory: try fewer of them") from None
    finally:
        for child in own:
            child.terminate()
        pool.shutdown(cancel_futures=True)


def _begin(begin: Callable[..., None], begin_arguments: tuple[Any, ...]) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a pool has started this process"

    def exit_after_parent() -> None:
        # A pool's process would otherwise wait for work for ever.
        parent.join()
        # An exception in this thread would not reach the waiting main thread.
        os._exit(1)

    threading.Thread(target=exit_after_parent, daemon=True).start()
    begin(*begin_arguments)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block SIGINT and SIGHUP. Processes started meanwhile inherit the block, and never receive these signals.

    A terminal sends both to all its processes. Children would print tracebacks, though this process ends its children.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        # SIGHUP cannot end a resource tracker that starts now. Its start unblocks SIGINT, so block SIGINT afterwards.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
