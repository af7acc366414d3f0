"""The counters as Prometheus reads them. Pure.

https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metric(NamedTuple):
    """A metric, what it counts, and the one label that tells its values apart."""

    name: str
    meaning: str
    label: str


CALLS = Metric("doppel_remembered_calls_total", "Reads of GitHub that a thread may remember, by who answered.", "from")
SHADOW = Metric("doppel_shadow_total", "Issues looked at in shadow mode, by whether there was something to say.", "was")
UNKNOWN = Metric("doppel_unknown_events_total", "Deliveries of events that Doppel does not know.", "event")
OTHER = Metric("doppel_counts_total", "Everything else that is counted.", "name")

# What stands before the label's value in a counter's name, and the words for the values that have a plainer one.
_FAMILIES = (("calls.", CALLS), ("shadow.", SHADOW), ("unknown event ", UNKNOWN), ("", OTHER))
_WORDS = {"calls.hits": "memory", "calls.misses": "github"}


def exposition(counters: Mapping[str, int]) -> str:
    """The page for Prometheus. The metrics with known values are there from the start, at 0."""
    families: dict[Metric, dict[str, int]] = {metric: {} for _, metric in _FAMILIES}
    known = dict.fromkeys((*_WORDS, "shadow.found", "shadow.silent"), 0)
    for name, value in (known | dict(counters)).items():
        prefix, metric = next((prefix, metric) for prefix, metric in _FAMILIES if name.startswith(prefix))
        families[metric][_WORDS.get(name, name.removeprefix(prefix))] = value
    lines = []
    for metric, values in families.items():
        lines += [f"# HELP {metric.name} {metric.meaning}", f"# TYPE {metric.name} counter"]
        lines += [f'{metric.name}{{{metric.label}="{_escaped(label)}"}} {values[label]}' for label in sorted(values)]
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
