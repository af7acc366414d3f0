"""Lets a command clean up when a signal ends it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class EndedBySignal(KeyboardInterrupt):
    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def cleanup_on_signal() -> Iterator[None]:
    """In this block, Ctrl-C, SIGTERM and a closed terminal raise EndedBySignal, so that the command cleans up.

    EndedBySignal has the number of the first signal, even if a library replaces the exception by its own. Later signals
    do not interrupt the cleaning up, and a signal that is ignored, as by `nohup`, stays ignored. Python drops an
    exception that is raised while it finalizes an object (`sys.unraisablehook`); then the signal is sent again.
    """
    received: list[int] = []
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    usual = {number: handler for number, handler in usual.items() if handler is not signal.SIG_IGN}

    def end(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        for one in usual:
            signal.signal(one, signal.SIG_IGN)
        raise EndedBySignal(number)

    def raise_again(lost: sys.UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, EndedBySignal):
            signal.signal(lost.exc_value.number, end)
            # Send the signal a moment later, when the object is gone and this function has returned.
            threading.Timer(0.1, os.kill, (os.getpid(), lost.exc_value.number)).start()
        else:
            usual_hook(lost)

    usual_hook, sys.unraisablehook = sys.unraisablehook, raise_again
    for number in usual:
        signal.signal(number, end)
    try:
        yield
    except BaseException as failure:
        if received and not isinstance(failure, EndedBySignal):
            raise EndedBySignal(received[0]) from failure
        raise
    finally:
        sys.unraisablehook = usual_hook
        for number, handler in usual.items():
            signal.signal(number, handler)
