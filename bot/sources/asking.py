"""H1: every source is asked on its own; one that fails or is late is reported, and the others still answer."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from bot.remarks import Failed, Remark
from bot.sources.protocol import Answer, Question, Source
from bot.telemetry.tracing import span
from bot.telemetry.work import carried

log = logging.getLogger(__name__)


def ask_all(sources: Sequence[Source], question: Question, within: float | None = None) -> list[Answer]:
    """The answers in the order of the sources, asked side by side. Never raises for a source's sake.

    What has not answered `within` so many seconds (None: all the time that it takes) is left behind, and said to be
    late; it comes to its end by itself, see `bot.hurry`.
    """
    if not sources or (len(sources) == 1 and within is None):
        return [_ask(source, question) for source in sources]
    threads = ThreadPoolExecutor(max_workers=len(sources), thread_name_prefix="source")
    try:
        asking = [threads.submit(carried(_ask), source, question) for source in sources]
        answered, _ = wait(asking, timeout=within)
    finally:
        threads.shutdown(wait=within is None)
    return [
        one.result() if one in answered else _late(source, within) for source, one in zip(sources, asking, strict=True)
    ]


def _late(source: Source, within: float | None) -> Answer:
    return Answer(source.name, problems=(Failed(source.name, Remark.TOO_LATE.of(round(within or 0))),))


def _ask(source: Source, question: Question) -> Answer:
    try:
        with span("source", source=source.name):
            return source.ask(question)
    except Exception as fault:
        # A fault of ours in one source must not cost the reader what the others found. Its message is left out of the
        # log, as it may quote an issue.
        frames = "".join(traceback.format_tb(fault.__traceback__))
        log.error("source %s failed: %s\n%s", source.name, type(fault).__name__, frames)
        return Answer(source.name, problems=(Failed(source.name, Remark.FAILED.of()),))
