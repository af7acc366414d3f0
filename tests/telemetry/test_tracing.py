"""OpenTelemetry: one trace from the delivery to the requests that it caused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.platform.tracing import span
from tests.spans import recorded

ROOT = Path(__file__).parents[2]


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


@pytest.mark.slow
def test_where_no_host_records_them_spans_do_nothing() -> None:
    """In a process of its own: another test may have set up the SDK in this one."""
    script = (
        "import sys\n"
        "from bot.platform.tracing import span\n"
        "with span('delivery', 'd-1') as one, span('find', kind='search'):\n"
        "    one.set_attribute('a', 1)\n"
        "    assert not one.is_recording()\n"
        "assert 'opentelemetry.sdk' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": str(ROOT)})
