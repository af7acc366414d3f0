"""OpenTelemetry spans for a delivery, its job, the search and the requests to GitHub, all in one trace.

The host decides whether to record traces (docs/watching.md). The delivery's id determines the trace's id. So the queue
stores no trace id, and each retry of a job joins the same trace. Attributes are only this program's own words and
numbers, never a repository's name, an address or an exception's text: people who read traces may not be allowed to read
the repository.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    ProxyTracerProvider,
    Span,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    get_tracer,
    get_tracer_provider,
    set_span_in_context,
)

_tracer = get_tracer("doppel")


@contextmanager
def span(name: str, delivery: str = "", /, **attributes: str | int) -> Iterator[Span]:
    """A span of this thread's work. For a delivery's first span in this process, pass the delivery's id."""
    if isinstance(get_tracer_provider(), ProxyTracerProvider):
        # Nobody records traces, and real spans would take a tenth of a delivery's time.
        yield INVALID_SPAN
        return
    parent = _trace_of(delivery) if delivery else None
    # OpenTelemetry itself would record an exception with its text.
    with _tracer.start_as_current_span(
        name, parent, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as started:
        try:
            yield started
        except BaseException as error:
            started.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def _trace_of(delivery: str) -> Context:
    """A context for spans under the trace's root span. The root span is remote, and nobody records it."""
    digest = hashlib.sha256(delivery.encode("utf-8", "replace")).digest()
    # `| 1`, because ids must not be zero.
    trace_id, span_id = int.from_bytes(digest[:16], "big") | 1, int.from_bytes(digest[16:24], "big") | 1
    root = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(root))


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work:
    """The delivery or job that a thread works on. Log lines show these fields. Unknown fields are empty.

    `delivery` is `X-GitHub-Delivery`, or our own id of a job that the bot made. `job` is the name of the event, such as
    `issues.opened`. `attempt` counts from 1. `arrived` is when the queue accepted the job, in seconds since 1970.
    """

    delivery: str = ""
    job: str = ""
    attempt: int = 0
    arrived: float = 0.0


_NOTHING = Work()
_current: ContextVar[Work] = ContextVar("work", default=_NOTHING)


def current() -> Work:
    """This thread's work; an empty one outside of `working_on`."""
    return _current.get()


@contextmanager
def working_on(work: Work) -> Iterator[None]:
    token = _current.set(work)
    try:
        yield
    finally:
        _current.reset(token)


def with_context(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function for pool threads: each call runs in a copy of the context as it was at wrapping."""
    here = copy_context()

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return here.copy().run(function, *args, **kwargs)

    return run
