"""`doppel check-config`: exit codes and output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bot.app.cli import cli
from bot.conversation.config.schema import MIN_CONFIDENCE
from bot.domain.likelihood import HIGHEST
from bot.search.matching.probability import TextSimilarity
from bot.search.matching.weights import shipped_model
from tests.calling import call

WRONG = "mode: off\nmin_confidance: 0.4\n"


def run(*arguments: str, stdin: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["check-config", *arguments], input=stdin)
    return result.exit_code, result.output


def test_c6_all_well_is_0_and_problems_are_1_and_read_like_a_compilers(tmp_path: Path) -> None:
    file = tmp_path / "doppel.yml"
    file.write_text("mode: shadow\n")
    assert run(str(file)) == (0, f"{file}: all well, mode: shadow\n")
    file.write_text(WRONG)
    expected = f'{file}:2:1: there is no setting called "min_confidance" (did you mean min_confidence?)\n'
    assert run(str(file)) == (1, expected)


def test_c6_json_holds_problems_and_the_settings_in_force() -> None:
    code, output = run("-", "--json", stdin=WRONG)
    found = json.loads(output)
    assert code == 1
    assert found["problems"] == [
        {"line": 2, "column": 1, "message": 'there is no setting called "min_confidance"', "hint": "min_confidence"}
    ]
    assert (found["file"], found["settings"]["mode"], found["settings"]["max_candidates"]) == ("-", "off", 3)


def test_c6_unreadable_is_2(tmp_path: Path) -> None:
    assert run(str(tmp_path / "none.yml"))[0] == 2
    file = tmp_path / "doppel.yml"
    file.write_bytes(b"mode: \xff\n")
    ended = call("check-config", str(file))
    assert ended.exit_code == 2
    assert "is not UTF-8: byte 7" in ended.stderr


def test_p5_a_threshold_of_the_former_scale_is_read_with_a_note() -> None:
    """It says what the value meant, and what holds without it."""
    code, output = run("-", stdin="min_confidence: 0.08\n")
    assert code == 0 and output.endswith("-: all well, mode: comment\n")
    (note,) = json.loads(run("-", "--json", stdin="min_confidence: 0.08\n")[1])["notes"]
    assert output.startswith(f"-: note: {note}\n")
    assert note.startswith(f"min_confidence: 0.08 is below the default, {MIN_CONFIDENCE:g}. ")
    assert "It used to be the chance that somebody marks them" in note
    assert json.loads(run("-", "--json", stdin=f"min_confidence: {MIN_CONFIDENCE}\n")[1])["notes"] == []


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("judge: {floor: 0.02}\n", "judge: floor: 0.02 is below the default, 0.05: "),
        ("judge: {enabled: off, related: on}\n", "judge: related is on, and the judge is off; "),
        ("judge: {enabled: off, critic: on}\n", "judge: critic is on, and the judge is off; "),
    ],
)
def test_j_settings_of_the_judge_that_cost_more_or_do_nothing_have_a_note(text: str, begins: str) -> None:
    code, output = run("-", "--json", stdin=text)
    (note,) = json.loads(output)["notes"]
    assert code == 0 and note.startswith(begins)
    assert json.loads(run("-", "--json", stdin="judge: {critic: on}\n")[1])["notes"] == []


@pytest.mark.parametrize("key", ["min_confidence", "likely"])
def test_p5_a_threshold_that_is_never_reached_is_a_problem_and_keeps_the_bot_silent(key: str) -> None:
    for value in ("1", "0.995", "1.0"):
        code, output = run("-", "--json", stdin=f"{key}: {value}\n")
        found = json.loads(output)
        (problem,) = found["problems"]
        assert (code, problem["line"]) == (1, 1)
        assert f"is never reached: at most {HIGHEST:g} makes sense" in problem["message"]
        assert found["settings"][key] == float(value), "who wrote it wants silence"
    assert run("-", stdin=f"{key}: {HIGHEST}\n")[0] == 0


def test_p2_the_highest_threshold_is_reached_and_nothing_is_above_it() -> None:
    """By what the shipped weights say of odds beyond which nothing more is told, and of the same text."""
    odds, rows = np.array([99.0]), np.array([0])
    readings = shipped_model().readings
    assert readings(odds, TextSimilarity(rows, np.array([1.0]), np.array([1.0]), 0.0, 0.5))[0] == HIGHEST
    assert readings(odds, None)[0] == HIGHEST
