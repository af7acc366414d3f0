"""Every line of docs/security.md names a test, and docs/watching.md explains every metric."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.interfaces.monitoring.exposition import QueueState, of_queue
from bot.platform.metrics import REGISTRY

ROOT = Path(__file__).parents[2]
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
WATCHING = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8")
ROWS = [line for line in SECURITY.splitlines() if line.startswith("| ") and not line.startswith("| what ")]
NAMED = re.compile(r"`(test_\w+)`")

# What the model must speak of at least, by a word of each.
SUBJECTS = (
    "forged", "replayed", "oversized", "nested", "compressed", "regular expression", "query", "Markdown", "mention",
    "marker", "redirect", "embedding", "sibling", "visibility", "transferred", "flood", "edited", "other bots",
    "itself", "token", "log", "dependencies",
)  # fmt: skip


def test_each_line_of_the_threat_model_has_a_test() -> None:
    assert len(ROWS) > 25
    assert [row for row in ROWS if not NAMED.search(row)] == []


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_threat_model_speaks_of(subject: str) -> None:
    assert any(subject.lower() in row.lower() for row in ROWS)


def test_every_metric_is_explained() -> None:
    known = {family.name for family in REGISTRY.collect()}
    known |= {family.name for family in of_queue(QueueState({}, {}, 0, 0, 0.0))}
    explained = set(re.findall(r"`(doppel_\w+?)(?:_total)?(?:\{[\w,]+\})?`", WATCHING))
    assert known <= explained
