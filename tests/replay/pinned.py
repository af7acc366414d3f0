"""What the model says of made-up issues, kept in `said/`. Run as a script, it writes these files anew:

.venv/bin/python -m tests.replay.pinned
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from bot.app.cli.replay import replay

KEPT = Path(__file__).parent / "said"
ISSUES = Path(__file__).parents[2] / "bot" / "app" / "demo" / "issues.jsonl"
CASES = (("busy", "index", 24), ("calm", "index", 12), ("busy", "github-search", 12))
"""Projects, where they are searched, and about how many of their issues is asked."""

Said = Mapping[int, Mapping[int, float]]


def project(name: str) -> list[dict[str, Any]]:
    """The demo's issues. `busy` has all of them within four months and by four people, who file series.

    What the `calm` project has of that is too little to move a probability.
    """
    rows: list[dict[str, Any]] = [json.loads(line) for line in ISSUES.read_text(encoding="utf-8").splitlines()]
    if name == "calm":
        return rows
    start = datetime(2024, 1, 1, tzinfo=UTC)
    for at, row in enumerate(rows):
        created = start + timedelta(hours=16 * at)
        closed = created + timedelta(hours=(1, 30, 200, 700)[at % 4])
        row |= {
            "author": f"person-{at // 6 % 4}",
            "created_at": created.isoformat(),
            "closed_at": closed.isoformat() if at % 5 else None,
        }
    return rows


def said(rows: Sequence[Mapping[str, Any]], source: str, asked: int) -> str:
    """The best three candidates of some issues after the first fifth, a line of JSON an issue."""
    with tempfile.TemporaryDirectory() as folder:
        issues, out = Path(folder) / "issues.jsonl", Path(folder) / "said.jsonl"
        issues.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        options = ["--top", "3", "--sources", source, "--sample", str(asked), "--jobs", "1", "--out", str(out)]
        result = CliRunner().invoke(replay, [str(issues), *options])
        assert result.exit_code == 0, result.output
        return out.read_text(encoding="utf-8")


def read(text: str) -> Said:
    """The probabilities of each issue's candidates."""
    rows = [json.loads(line) for line in text.splitlines()]
    return {row["id"]: {one["id"]: one["confidence"] for one in row["candidates"]} for row in rows}


def kept(name: str, source: str) -> Path:
    """The file of one case."""
    return KEPT / f"{name}-{source}.jsonl"


if __name__ == "__main__":
    for name, source, asked in CASES:
        kept(name, source).write_text(said(project(name), source, asked), encoding="utf-8")
