"""OpenTelemetry: delivery → job → find → requests to GitHub, as one trace.

The host decides whether anybody records it (docs/watching.md); else these spans are OpenTelemetry's, which do nothing.
What web and worker have in common is the delivery's id, from which the trace's id is made: the queue need not carry it,
and each further try of a job joins the same trace. Attributes are words and numbers of this program; names of
repositories, addresses and texts of exceptions are left out, since whoever reads traces need not be who may read a
repository.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

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
    """A piece of the work that goes on in this thread; where a delivery is named, the first one of it here."""
    if isinstance(get_tracer_provider(), ProxyTracerProvider):
        # Nobody records: what would be made for nothing costs a delivery a tenth of its time.
        yield INVALID_SPAN
        return
    with _tracer.start_as_current_span(
        name,
        _trace_of(delivery) if delivery else None,
        attributes=attributes,
        # The exception would be recorded with its text.
        record_exception=False,
        set_status_on_exception=False,
    ) as started:
        try:
            yield started
        except BaseException as error:
            started.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def _trace_of(delivery: str) -> Context:
    """The trace of a delivery, as if its root were in another process."""
    digest = hashlib.sha256(delivery.encode("utf-8", "replace")).digest()
    ids = int.from_bytes(digest[:16], "big") | 1, int.from_bytes(digest[16:24], "big") | 1
    root = SpanContext(*ids, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(root))
