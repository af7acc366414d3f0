"""`doppel check-config`: exit codes and output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli, main
from bot.config.keys import KEYS

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


def test_c6_what_nothing_acts_on_yet_is_named_and_no_problem() -> None:
    """The file names every setting that is marked so in the table, and one that has effect."""
    values = {key.name: "{" + "}" for key in KEYS if key.later}
    known = {"label": "add", "language": "de", "close_after": "7d", "siblings": "[]", "known_issues": "[1]"}
    file = "mode: comment\n" + "".join(f"{name}: {known.get(name, value)}\n" for name, value in values.items())
    code, output = run("-", stdin=file)
    assert (code, output.splitlines()[-1]) == (0, "-: all well, mode: comment")
    noted = [f"-:{line}:1: {name}: read, but nothing acts on it yet" for line, name in enumerate(values, start=2)]
    assert output.splitlines()[:-1] == noted
    assert [note["line"] for note in json.loads(run("-", "--json", stdin=file)[1])["notes"]] == [
        *range(2, 2 + len(values))
    ]


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
