"""`doppel train`: weights from labelled files, which the models can read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli.train import train
from bot.matching import Model
from bot.ranking.model import Model as SearchModel

TOPICS = ("login crashes behind the proxy", "export writes an empty file", "fonts are blurred", "menu does not open")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    rows = []
    for number in range(60):
        row = {"id": number, "title": f"{TOPICS[number % 4]} since {number}", "body": f"It began on day {number}"}
        row["created_at"] = f"2024-01-{1 + number // 3:02}T{number % 3:02}:00:00Z"
        rows.append(row | ({"duplicate_of": number - 4} if number % 5 == 4 else {}))
    path = tmp_path / "issues.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.processes
@pytest.mark.parametrize(("purpose", "model"), [("index", Model), ("search", SearchModel)])
def test_weights_are_learned_that_the_model_reads(
    purpose: str, model: type[Model] | type[SearchModel], labelled: Path, tmp_path: Path
) -> None:
    out = tmp_path / "weights.json"
    arguments = [str(labelled), "--out", str(out), "--for", purpose, "--others", "20"]
    result = CliRunner().invoke(train, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    # Ten duplicates and the twenty others.
    assert "30/30" in result.stderr
    made = json.loads(out.read_text(encoding="utf-8"))
    assert made["made_from"] == ["issues.jsonl"]
    assert f"--for {purpose}" in made["made_by"]
    model.parse(out.read_text(encoding="utf-8"))
