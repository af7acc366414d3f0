"""H1: every source is asked on its own; one that fails is reported, and the others still answer."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

from bot.remarks import Remark
from bot.sources.protocol import Answer, Question, Source
from bot.telemetry.tracing import span
from bot.telemetry.work import carried

log = logging.getLogger(__name__)


def ask_all(sources: Sequence[Source], question: Question) -> list[Answer]:
    """The answers in the order of the sources, asked side by side. Never raises for a source's sake."""
    if len(sources) < 2:
        return [_ask(source, question) for source in sources]
    with ThreadPoolExecutor(max_workers=len(sources), thread_name_prefix="source") as threads:
        return list(threads.map(carried(_ask), sources, repeat(question)))


def _ask(source: Source, question: Question) -> Answer:
    try:
        with span("source", source=source.name):
            return source.ask(question)
    except Exception as fault:
        # A fault of ours in one source must not cost the reader what the others found. Its message is left out of the
        # log, as it may quote an issue.
        frames = "".join(traceback.format_tb(fault.__traceback__))
        log.error("source %s failed: %s\n%s", source.name, type(fault).__name__, frames)
        return Answer(source.name, problems=(f"{source.name}: {Remark.FAILED.of()}",))
