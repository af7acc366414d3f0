"""Every line of docs/security.md names a test, and docs/watching.md explains every metric."""

from __future__ import annotations

import re
from pathlib import Path

from bot.interfaces.monitoring.exposition import QueueState, of_queue
from bot.platform.metrics import REGISTRY

ROOT = Path(__file__).parents[2]
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
WATCHING = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8")
ROWS = [line for line in SECURITY.splitlines() if line.startswith("| ") and not line.startswith("| what ")]
NAMED = re.compile(r"`(test_\w+)`")


def test_each_line_of_the_threat_model_has_a_test() -> None:
    assert len(ROWS) > 25
    assert [row for row in ROWS if not NAMED.search(row)] == []


def test_every_metric_is_explained() -> None:
    known = {family.name for family in REGISTRY.collect()}
    known |= {family.name for family in of_queue(QueueState({}, {}, 0, 0, 0.0))}
    explained = set(re.findall(r"`(doppel_\w+?)(?:_total)?(?:\{[\w,]+\})?`", WATCHING))
    assert known <= explained
