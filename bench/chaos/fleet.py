"""Web and worker processes, as Procfile starts them, that are killed and started again all the time."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

from bot.platform.local import is_well
from bot.platform.processes import GUNICORN

WORKER = (sys.executable, "-m", "bench.chaos.worker")
ROOT = Path(__file__).resolve().parents[2]


class Fleet:
    """One gunicorn and some workers; `tend` starts again what has ended, as a host's process manager does."""

    def __init__(self, environ: Mapping[str, str], workers: int, log: IO[bytes]) -> None:
        self._environ = {**environ, "PYTHONPATH": str(ROOT)}
        self._log = log
        web = (*GUNICORN, "--bind", f"127.0.0.1:{environ['PORT']}")
        self._commands: dict[str, Sequence[str]] = {"web": web} | {f"worker {n + 1}": WORKER for n in range(workers)}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._spared: set[str] = set()
        self._lock = threading.Lock()
        self._url = f"http://127.0.0.1:{environ['PORT']}"
        self.kills: Counter[str] = Counter()
        self.receiver = f"{self._url}/webhook"

    def ready(self) -> bool:
        """Whether web takes deliveries."""
        return is_well(f"{self._url}/readyz")

    def tend(self) -> None:
        """Start what does not run."""
        with self._lock:
            for name, command in self._commands.items():
                child = self._running.get(name)
                if child is None or child.poll() is not None:
                    if child is not None:
                        # Gunicorn's children outlive it for a while, and would keep the port.
                        _kill_group(child)
                    self._running[name] = subprocess.Popen(
                        command,
                        env=self._environ,
                        cwd=ROOT,
                        start_new_session=True,
                        stdin=subprocess.DEVNULL,
                        stdout=self._log,
                        stderr=self._log,
                    )

    def strike(self, rng: random.Random) -> None:
        """SIGKILL one of them, or one of gunicorn's children; what is killed comes back within a second or so."""
        with self._lock:
            name = rng.choice([one for one in self._commands if one not in self._spared])
            child = self._running[name]
            pids = _children(child.pid) if name == "web" and rng.random() < 0.5 else []
            victim = rng.choice(pids) if pids else child.pid
            self.kills["a child of web" if pids else name.partition(" ")[0]] += 1
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)

    @contextlib.contextmanager
    def spared(self, rng: random.Random) -> Iterator[str]:
        """One of the workers, which is not killed meanwhile; where it is the only one, another is added for good."""
        with self._lock:
            workers = [name for name in self._commands if name.startswith("worker") and name not in self._spared]
            name = rng.choice(workers)
            if len(workers) == 1:
                # Whoever watches a machine that does not answer starts a second one, and leaves it.
                self._commands[f"worker {len(self._commands)}"] = WORKER
            self._spared.add(name)
        try:
            yield name
        finally:
            with self._lock:
                self._spared.discard(name)

    def send(self, name: str, number: signal.Signals) -> int:
        """Send a signal to one of them, if it has not just ended; its process id."""
        with self._lock:
            child = self._running[name]
            child.send_signal(number)
            return child.pid

    def full_disk(self, full: bool) -> None:
        """Let no process write beyond the first pages of any file, which databases meet as they meet a full disk."""
        soft = 4096 if full else resource.RLIM_INFINITY
        for child in list(self._running.values()):
            for pid in (child.pid, *_children(child.pid)):
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))

    def stop(self) -> None:
        """End them all."""
        with self._lock:
            for child in self._running.values():
                child.terminate()
                # One that stands still would not hear of it.
                child.send_signal(signal.SIGCONT)
            end = time.monotonic() + 20
            for child in self._running.values():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(max(0.1, end - time.monotonic()))
                _kill_group(child)
                child.wait()
            self._running.clear()


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []
