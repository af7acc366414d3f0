"""SIGTERM and a closed terminal end a command as Ctrl-C does: it puts away what it has made."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """Somebody has sent the signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Within, these signals raise Ended, the first one that comes; `nohup` keeps its meaning."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, _frame: FrameType | None) -> None:
        # What puts things away must not be interrupted.
        for one in usual:
            signal.signal(one, signal.SIG_IGN)
        raise Ended(number)

    for number in usual:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in usual:
            signal.signal(number, signal.SIG_DFL)
