"""OpenTelemetry: one trace from the delivery to the requests that it caused, and nothing of it unless configured."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from bot.errors import SettingsError
from bot.settings import Settings
from bot.telemetry import tracing
from bot.telemetry.tracing import configure_tracing, delivery_span, job_span, span, trace_to

ROOT = Path(__file__).parents[2]


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    trace_to(SimpleSpanProcessor(exporter), "test")
    yield exporter
    trace_to(None, "test")


def parents(finished: tuple[ReadableSpan, ...]) -> dict[str, str | None]:
    names = {one.context.span_id: one.name for one in finished if one.context}
    return {one.name: names[one.parent.span_id] if one.parent else None for one in finished}


def test_a_job_joins_the_trace_of_its_delivery(spans: InMemorySpanExporter) -> None:
    with delivery_span("d-1") as first:
        first.set_attribute("outcome", "queued")
    with job_span("d-1", attempt=1), span("find"), span("github", kind="search"):
        pass
    with job_span("d-2"):
        pass
    finished = spans.get_finished_spans()
    assert parents(finished[:4]) == {"delivery": None, "job": "delivery", "find": "job", "github": "find"}
    traces = [one.context.trace_id for one in finished if one.context]
    assert len(set(traces[:4])) == 1
    assert traces[4] != traces[0]


def test_other_spans_have_ids_of_their_own(spans: InMemorySpanExporter) -> None:
    with delivery_span("d-1"), span("inner"):
        pass
    with span("alone"):
        pass
    ids = [(one.context.trace_id, one.context.span_id) for one in spans.get_finished_spans() if one.context]
    assert len({span_id for _, span_id in ids}) == 3
    assert ids[2][0] != ids[0][0]


def test_a_failure_is_seen_without_its_text(spans: InMemorySpanExporter) -> None:
    with pytest.raises(OSError, match="private"), span("find"):
        raise OSError("private text")
    (one,) = spans.get_finished_spans()
    assert not one.status.is_ok
    assert one.status.description == "OSError"
    assert one.events == ()
    assert "private" not in one.to_json()


def test_what_is_not_kept_of_the_delivery_is_not_kept_of_the_job(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "_sampler", ALWAYS_OFF)
    with job_span("d-1"), span("find"):
        pass
    assert spans.get_finished_spans() == ()


@pytest.mark.slow
def test_without_configuration_nothing_is_imported_and_nothing_happens() -> None:
    configure_tracing(Settings(home=ROOT, database_url=""), "web")
    assert tracing._tracer is None
    with delivery_span("d-1") as one, job_span("d-1"), span("find"):
        one.set_attribute("a", 1)
    for path in [*(ROOT / "bot").rglob("*.py"), *(ROOT / "handlers").rglob("*.py")]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            imports = isinstance(node, ast.Import | ast.ImportFrom)
            assert not (imports and "opentelemetry" in ast.unparse(node)), f"{path} imports it at once"


def test_configured_without_the_packages_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    settings = Settings(home=ROOT, database_url="", otlp_endpoint="http://127.0.0.1:4318")
    with pytest.raises(SettingsError, match=r"pip install 'opentelemetry-sdk"):
        configure_tracing(settings, "worker")


def test_configured_it_sends_to_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real exporter, with its last step, the request, recorded."""
    sent: list[str] = []
    from opentelemetry.exporter.otlp.proto.http import trace_exporter
    from opentelemetry.sdk.trace.export import SpanExportResult

    def export(self: trace_exporter.OTLPSpanExporter, batch: object) -> object:
        sent.append(self._endpoint)
        return SpanExportResult.SUCCESS

    monkeypatch.setattr(trace_exporter.OTLPSpanExporter, "export", export)
    configure_tracing(Settings(home=ROOT, database_url="", otlp_endpoint="http://collector.example:4318"), "worker")
    try:
        with span("find") as one:
            pass
        assert one is not None
        tracing._tracer.span_processor.force_flush()
    finally:
        tracing._tracer.span_processor.shutdown()
        trace_to(None, "worker")
    assert sent == ["http://collector.example:4318/v1/traces"]
