"""OpenTelemetry: one trace from the delivery to the requests that it caused."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.platform.tracing import span
from tests.spans import recorded


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return recorded()


def traces(finished: tuple[ReadableSpan, ...]) -> list[int]:
    return [one.context.trace_id for one in finished if one.context]


def test_a_job_joins_the_trace_of_its_delivery(spans: InMemorySpanExporter) -> None:
    with span("delivery", "d-1") as first:
        first.set_attribute("outcome", "queued")
    with span("job", "d-1", attempt=1), span("find"), span("github", kind="search"):
        pass
    with span("job", "d-2"):
        pass
    with span("alone"):
        pass
    finished = spans.get_finished_spans()
    assert [one.name for one in finished] == ["delivery", "github", "find", "job", "job", "alone"]
    ids = {one.context.span_id: one.name for one in finished[:4] if one.context}
    assert [ids[one.parent.span_id] for one in finished[1:3] if one.parent] == ["find", "job"]
    first_four = set(traces(finished[:4]))
    assert len(first_four) == 1
    assert len({*first_four, *traces(finished[4:])}) == 3


def test_a_failure_is_seen_without_its_text(spans: InMemorySpanExporter) -> None:
    with pytest.raises(OSError, match="private"), span("find"):
        raise OSError("private text")
    (one,) = spans.get_finished_spans()
    assert not one.status.is_ok
    assert one.status.description == "OSError"
    assert one.events == ()
    assert "private" not in one.to_json()
