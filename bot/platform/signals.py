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

    EndedBySignal has the number of the first signal. If a library turns it into another exception, the block raises
    EndedBySignal from that exception. Later signals do not interrupt the cleaning up. A signal that was ignored before,
    as by `nohup`, stays ignored. If Python drops EndedBySignal in a finalizer, the block sends the signal again.
    """
    received: list[int] = []
    present = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    replaced = {number: handler for number, handler in present.items() if handler is not signal.SIG_IGN}

    def end(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        for one in replaced:
            signal.signal(one, signal.SIG_IGN)
        raise EndedBySignal(number)

    def raise_again(lost: sys.UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, EndedBySignal):
            # Handle this signal again, because `end` made the process ignore it. Send it after the finalizer has ended.
            signal.signal(lost.exc_value.number, end)
            threading.Timer(0.1, os.kill, (os.getpid(), lost.exc_value.number)).start()
        else:
            usual_hook(lost)

    usual_hook, sys.unraisablehook = sys.unraisablehook, raise_again
    for number in replaced:
        signal.signal(number, end)
    try:
        yield
    except BaseException as failure:
        if received and not isinstance(failure, EndedBySignal):
            raise EndedBySignal(received[0]) from failure
        raise
    finally:
        sys.unraisablehook = usual_hook
        for number, handler in replaced.items():
            signal.signal(number, handler)
