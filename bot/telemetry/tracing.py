"""OpenTelemetry, where a host has configured it: delivery → job → find → requests to GitHub, as one trace.

Nothing of OpenTelemetry is imported without `OTEL_EXPORTER_OTLP_ENDPOINT`. What web and worker have in common is the
delivery's id, so the ids of trace and first span are made from it: the queue need not carry them, and each further try
of a job joins the same trace. Attributes are words and numbers of this program; names of repositories, addresses and
texts of exceptions are left out, since whoever reads traces need not be who may read a repository.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from bot.errors import SettingsError
from bot.machine.packages import pip_install
from bot.settings import Settings

PACKAGES = ("opentelemetry-sdk>=1.30", "opentelemetry-exporter-otlp-proto-http>=1.30")
"""As in the extra `otel` of pyproject.toml."""

Value = str | int | float | bool


class Span(Protocol):
    """What is known of a piece of work besides its length."""

    def set_attribute(self, key: str, value: Value) -> Any: ...


class _Nothing:
    def set_attribute(self, key: str, value: Value) -> None:
        """Nobody listens."""


# The tracer of this process, and the sampler that decides which traces are kept; None without configuration.
_tracer: Any = None
_sampler: Any = None
# The ids that the next first span takes.
_ids: ContextVar[tuple[int, int] | None] = ContextVar("ids", default=None)


def configure_tracing(settings: Settings, part: str) -> None:
    """Send traces to the host's collector, if there is one. `part` is `web` or `worker`.

    To be called after any fork. OpenTelemetry's other variables (headers, sampler, resource) hold as it documents them.
    Raises SettingsError where its packages are not installed.
    """
    if not settings.otlp_endpoint:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SettingsError(
            f"OTEL_EXPORTER_OTLP_ENDPOINT: is set, but OpenTelemetry is not installed: {pip_install(*PACKAGES)}"
        ) from None
    exporter = OTLPSpanExporter(endpoint=f"{settings.otlp_endpoint}/v1/traces")
    trace_to(BatchSpanProcessor(exporter), part)


def trace_to(processor: Any, part: str) -> None:
    """Trace from now on, and hand finished spans to `processor`, an OpenTelemetry SpanProcessor; None ends it."""
    global _tracer, _sampler
    if processor is None:
        _tracer = _sampler = None
        return
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Ids(RandomIdGenerator):
        """Random, but for the first span of a delivery."""

        def generate_trace_id(self) -> int:
            return ids[0] if (ids := _ids.get()) else super().generate_trace_id()

        def generate_span_id(self) -> int:
            return ids[1] if (ids := _ids.get()) else super().generate_span_id()

    provider = TracerProvider(id_generator=Ids(), resource=Resource.create({"service.name": f"doppel-{part}"}))
    provider.add_span_processor(processor)
    _tracer, _sampler = provider.get_tracer("doppel"), provider.sampler


@contextmanager
def delivery_span(delivery_id: str) -> Iterator[Span]:
    """The first span of a delivery's trace: its way into the queue."""
    token = _ids.set(_ids_of(delivery_id))
    try:
        started = _start("delivery", None)
    finally:
        _ids.reset(token)
    with _running(started) as span:
        yield span


@contextmanager
def job_span(delivery_id: str, **attributes: Value) -> Iterator[Span]:
    """One run of the job that a delivery became, in another process and perhaps hours later."""
    with _running(_start("job", _parent(delivery_id), attributes)) as span:
        yield span


@contextmanager
def span(name: str, **attributes: Value) -> Iterator[Span]:
    """A piece of the work that goes on in this thread."""
    with _running(_start(name, None, attributes)) as span:
        yield span


def _start(name: str, context: Any, attributes: dict[str, Value] | None = None) -> Any:
    return _tracer.start_span(name, context, attributes=attributes) if _tracer else None


@contextmanager
def _running(started: Any) -> Iterator[Span]:
    if started is None:
        yield _Nothing()
        return
    from opentelemetry.trace import Status, StatusCode, use_span

    try:
        # OpenTelemetry would record the exception with its text.
        with use_span(started, end_on_exit=False, record_exception=False, set_status_on_exception=False):
            yield started
    except BaseException as error:
        started.set_status(Status(StatusCode.ERROR, type(error).__name__))
        raise
    finally:
        started.end()


def _parent(delivery_id: str) -> Any:
    """The context in which a job's span begins: the delivery's first span, in whatever process that was."""
    if _tracer is None:
        return None
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    trace_id, span_id = _ids_of(delivery_id)
    kept = _sampler.should_sample(None, trace_id, "delivery").decision.is_sampled()
    flags = TraceFlags(TraceFlags.SAMPLED if kept else TraceFlags.DEFAULT)
    return set_span_in_context(NonRecordingSpan(SpanContext(trace_id, span_id, is_remote=True, trace_flags=flags)))


def _ids_of(delivery_id: str) -> tuple[int, int]:
    """The ids of a delivery's trace and of its first span, neither of them 0."""
    digest = hashlib.sha256(delivery_id.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:16], "big") | 1, int.from_bytes(digest[16:24], "big") | 1
