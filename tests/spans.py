"""What OpenTelemetry's SDK records of the bot's spans, as it would for a host that has set it up."""

from __future__ import annotations

from functools import cache

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_tracer_provider


@cache
def _recorded() -> InMemorySpanExporter:
    """A process has one provider, which cannot be replaced."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    set_tracer_provider(provider)
    return exporter


def recorded() -> InMemorySpanExporter:
    """The spans that end from now on."""
    exporter = _recorded()
    exporter.clear()
    return exporter
