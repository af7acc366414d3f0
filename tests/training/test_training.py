"""`doppel train`: weights from labelled files, which the models can read."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.app.cli.train import train
from bot.domain.errors import UserError
from bot.search.matching import Model
from bot.search.matching.weights import shipped_model
from tests.calling import told_to_end, write_lines

TOPICS = ("login crashes behind the proxy", "export writes an empty file", "fonts are blurred", "menu does not open")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    rows = []
    for number in range(60):
        row = {"id": number, "title": f"{TOPICS[number % 4]} since {number}", "body": f"It began on day {number}"}
        row["created_at"] = f"2024-01-{1 + number // 3:02}T{number % 3:02}:00:00Z"
        rows.append(row | ({"duplicate_of": number - 4} if number % 5 == 4 else {}))
    return write_lines(tmp_path / "issues.jsonl", rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        ({"duplicate_of": None}, "too few of these issues are known as duplicates"),
        ({"duplicate_of": [3]}, "duplicate_of of the issue 0 is neither a number nor a string"),
        ({"duplicate_of": 0}, "all candidates looked at are duplicates"),
    ],
)
def test_what_keeps_files_from_teaching_is_said(
    spoilt: dict[str, object], says: str, labelled: Path, tmp_path: Path
) -> None:
    write_lines(labelled, [json.loads(line) | spoilt for line in labelled.read_text(encoding="utf-8").splitlines()])
    out = tmp_path / "weights.json"
    result = CliRunner().invoke(train, [str(labelled), "--out", str(out), "--others", "9"])
    assert isinstance(result.exception, UserError)
    assert says in str(result.exception)
    assert "issues.jsonl" in str(result.exception)
    assert not out.exists()


@pytest.mark.processes
def test_weights_are_learned_that_the_model_reads_of_files_that_need_not_have_the_same_fields(
    labelled: Path, tmp_path: Path
) -> None:
    """One without authors beside one with them, labels, states and readers' verdicts (P1), one of a Chinese arrival."""
    rows = [json.loads(line) for line in labelled.read_text(encoding="utf-8").splitlines()]
    other, out = tmp_path / "other.jsonl", tmp_path / "weights.json"
    more = {"author": "ann", "labels": ["bug"], "state": "closed"}
    chinese = {"id": 60, "title": "登录页面在代理后面崩溃了 login", "body": "今天", "created_at": "2024-02-01"}
    write_lines(other, [row | more for row in [*rows, chinese]])
    verdicts = {"56": "same", "52": "related", "57": "different", "58": "different"}
    readings = [{"id": id, "weight": 2.5, "verdicts": verdicts} for id in (59, 60)]
    given = ["--readings", str(write_lines(tmp_path / "other.readings.jsonl", readings))]
    arguments = [str(labelled), str(other), *given, "--out", str(out), "--others", "20"]
    result = CliRunner().invoke(train, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    # Of each ten duplicates and twenty others; then the two that readers judged.
    assert "62/62" in result.stderr
    made = json.loads(out.read_text(encoding="utf-8"))
    assert made["made_from"] == ["issues.jsonl", "other.jsonl", "other.readings.jsonl"]
    last_step = Model.parse(out.read_text(encoding="utf-8")).readings.with_text
    assert last_step.intercept != shipped_model().readings.with_text.intercept


@pytest.mark.processes
def test_who_is_told_to_end_ends_soon_and_leaves_no_texts(tmp_path: Path) -> None:
    # Longer than the path of a socket may be.
    temporary = tmp_path / ("temporary" * 12)
    temporary.mkdir()
    rows = [
        {"id": n, "title": f"It fails {n}", "body": f"part{n} " * 200, "created_at": f"{2000 + n // 300}-01-01"}
        for n in range(6_000)
    ]
    rows[5_999]["duplicate_of"] = 1
    issues = write_lines(tmp_path / "issues.jsonl", rows)
    said = told_to_end(
        signal.SIGTERM,
        *("train", issues, "--out", tmp_path / "weights.json"),
        temporary=temporary,
        begun=lambda: any(temporary.glob("**/index.db")),
    )
    assert "Traceback" not in said
    assert list(temporary.glob("doppel-*")) == []
