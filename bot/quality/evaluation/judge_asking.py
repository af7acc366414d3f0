"""Sends an evaluation's questions to a judge's endpoint, several at once (J7)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bot.domain.errors import UserError
from bot.quality.evaluation.judge_answers import RecordedQuestion
from bot.search.judge.prompt import Endpoint, EndpointError, UnusableAnswer

_AT_ONCE = 4
# Stop asking after this many failures in a row.
_MAX_FAILURES = 3


def ask(endpoint: Endpoint, questions: Sequence[RecordedQuestion], seconds: float) -> Iterator[dict[str, Any]]:
    """Ask each question, waiting at most `seconds`; yield the answers as rows for `judge_answers.read_answers`.

    Leaves out a question on which the endpoint fails. Raises UserError if the endpoint keeps failing.
    """

    def answer(one: RecordedQuestion) -> dict[str, Any] | EndpointError:
        row: dict[str, Any] = {"question": one.key, "id": one.id, "prompt": one.prompt.name}
        began = time.monotonic()
        try:
            reply = endpoint.ask(one.prompt, seconds)
        except UnusableAnswer as useless:
            return {**row, "answer": None, "problem": str(useless)}
        except EndpointError as failure:
            return failure
        usage = {"model": reply.model, "tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out}
        return {**row, **usage, "seconds": round(time.monotonic() - began, 2), "answer": reply.text}

    failures = 0
    threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="evaluate")
    try:
        for future in [threads.submit(answer, one) for one in questions]:
            result = future.result()
            failures = failures + 1 if isinstance(result, EndpointError) else 0
            if not isinstance(result, EndpointError):
                yield result
            elif failures >= _MAX_FAILURES:
                raise UserError(f"{result}. What was answered is kept: run it again to go on")
    finally:
        # After an interruption, ask no further question, since each costs money.
        threads.shutdown(wait=True, cancel_futures=True)
