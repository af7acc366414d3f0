"""`doppel check-config`: exit codes and output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli, main

WRONG = "mode: off\nmin_confidance: 0.4\n"


def run(*arguments: str, stdin: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["check-config", *arguments], input=stdin)
    return result.exit_code, result.output


def test_c6_all_well_is_0(tmp_path: Path) -> None:
    file = tmp_path / "doppel.yml"
    file.write_text("mode: shadow\n")
    assert run(str(file)) == (0, f"{file}: all well, mode: shadow\n")


def test_c6_problems_are_1_and_read_like_a_compilers(tmp_path: Path) -> None:
    file = tmp_path / "doppel.yml"
    file.write_text(WRONG)
    expected = f'{file}:2:1: there is no setting called "min_confidance" (did you mean min_confidence?)\n'
    assert run(str(file)) == (1, expected)


def test_c6_json_holds_problems_and_the_settings_in_force() -> None:
    code, output = run("-", "--json", stdin=WRONG)
    found = json.loads(output)
    assert code == 1
    assert found["problems"] == [
        {
            "line": 2,
            "column": 1,
            "message": 'there is no setting called "min_confidance"',
            "hint": "min_confidence",
        }
    ]
    assert (found["file"], found["settings"]["mode"], found["settings"]["max_candidates"]) == ("-", "off", 5)


def test_c6_unreadable_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "none.yml"))[0] == 2
    file = tmp_path / "doppel.yml"
    file.write_bytes(b"mode: \xff\n")
    with pytest.raises(SystemExit) as ended:
        main(["check-config", str(file)])
    assert ended.value.code == 2
    assert "is not UTF-8: byte 7" in capsys.readouterr().err
