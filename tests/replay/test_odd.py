"""`doppel replay` with files, databases and ends that nobody wishes for: nothing is lost, mixed up or left behind."""

from __future__ import annotations

import gzip
import json
import re
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.app.cli.replay import replay as command
from bot.domain.errors import Unavailable, UserError
from bot.quality.replay import drivers as indexed
from bot.quality.replay.archive import read_archive
from bot.simulator.operations.rows import read_rows
from tests.calling import told_to_end, write_lines

WORDS = ["login", "proxy", "export", "font", "menu", "panic", "socket", "linker", "cache", "token", "upload", "image"]


def row(number: int, **more: Any) -> dict[str, Any]:
    title = f"{WORDS[number % 12]} {WORDS[number * 5 % 11]} fails"
    moment = f"2024-01-{1 + number // 24:02}T{number % 24:02}:00:00Z"
    return {"id": number, "title": title, "body": f"See {WORDS[number % 7]}", "created_at": moment} | more


@pytest.mark.parametrize("name", ["issues", "issues.jsonl.gz"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_file_is_read_by_what_is_in_it_not_by_its_name(name: str, packed: bool, mark: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    text = mark + "".join(json.dumps(row(n)) + "\n" for n in range(3)).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    assert [one.id for one in read_archive(path)] == [0, 1, 2]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_named_with_what_makes_it_the_right_one(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    lines = [json.dumps(row(n, title="caf\u00e9" if n > 500 else "cafe"), ensure_ascii=False) for n in range(502)]
    path.write_bytes("\n".join(lines).encode(encoding))
    with pytest.raises(UserError, match=r"issues\.jsonl: not UTF-8; iconv -f ENCODING -t UTF-8 makes it so$"):
        read_archive(path)
    # The simulator reads such files too.
    with pytest.raises(ValueError, match=r"^it is not UTF-8; iconv -f ENCODING -t UTF-8 makes it so$"):
        read_rows(path)


def test_a_file_that_is_gzipped_twice_is_told_to_be(tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl.gz"
    path.write_bytes(gzip.compress(gzip.compress(b"".join(json.dumps(row(n)).encode() + b"\n" for n in range(9)))))
    with pytest.raises(UserError, match=r"issues\.jsonl\.gz: gzipped more than once; gunzip it, then it can be read$"):
        read_archive(path)
    with pytest.raises(ValueError, match=r"^it is gzipped more than once; gunzip it, then it can be read$"):
        read_rows(path)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("{oops}", "not JSON: Expecting property name enclosed in double quotes at character 2$"),
        ('{"id": ' * 100_000, "not JSON"),
        ('"1"', "an issue is an object"),
        ("[]", "not JSON Lines but a list; jq -c '.\\[\\]' makes lines of it"),
        ("[" * 100_000, "not JSON Lines but a list"),
        ('{"created_at": "2024-01-01"}', "id is missing"),
        ('{"id": 1}', "created_at is missing"),
        ('{"id": 1, "created_at": "x"}', "created_at is 'x'"),
        ('{"id": 1, "created_at": 1700000000}', "created_at is 1700000000, which is not a time"),
        ('{"id": 1, "created_at": "2024-01-01", "closed_at": "soon"}', "closed_at is 'soon'"),
        ('{"id": 1, "created_at": "0001-01-01T00:00:00+14:00"}', "created_at is '0001-"),
        ('{"id": 1, "created_at": "9999-12-31T23:59:59.999999Z"}', "created_at is '9999-"),
        ('{"id": 1, "created_at": "2024-01-01", "labels": 5}', "labels is not a list"),
        ('{"id": 0, "created_at": "2024-01-01"}', "0 is the id of more than one issue, see .*line 1"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(line: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    # Empty lines are counted, too.
    path.write_text(f"{json.dumps(row(0))}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match=f"line 3: .*{says}"):
        read_archive(path)


def test_the_file_of_issues_is_never_overwritten(tmp_path: Path) -> None:
    issues = write_lines(tmp_path / "issues.jsonl", [row(n) for n in range(9)])
    (other := tmp_path / "other.jsonl").symlink_to(issues)
    before = issues.read_bytes()
    result = CliRunner().invoke(command, [str(issues), "--out", str(issues)])
    assert isinstance(result.exception, UserError) and "is one of the files that are read" in str(result.exception)
    result = CliRunner().invoke(command, [str(issues), "--out", str(other)])
    assert isinstance(result.exception, UserError) and "this is a link" in str(result.exception)
    assert issues.read_bytes() == before


@pytest.mark.slow
def test_answers_are_compressed_where_the_name_says_so(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "issues.jsonl", map(row, range(4)))
    for out in ("a.jsonl", "a.jsonl.gz"):
        assert CliRunner().invoke(command, [str(path), "--out", str(tmp_path / out)]).exit_code == 0
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == (tmp_path / "a.jsonl").read_bytes()


def test_a_hyphen_is_no_file_by_accident(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "issues.jsonl", [row(1)])
    result = CliRunner().invoke(command, [str(path), "--out", "-"])
    assert (result.exit_code, "/dev/stdout" in result.output) == (2, True)


def test_an_id_that_utf_8_cannot_hold_comes_back_as_it_was(tmp_path: Path) -> None:
    issues = write_lines(tmp_path / "issues.jsonl", [row(n, id=f"\ud83d{n}") for n in range(9)])
    out = tmp_path / "out.jsonl"
    CliRunner().invoke(command, [str(issues), "--out", str(out), "--from", "0.5"], catch_exceptions=False)
    assert [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()] == [
        f"\ud83d{n}" for n in range(4, 9)
    ]


@pytest.mark.parametrize("option", ["--from", "--threshold"])
def test_nan_is_no_share(option: str, tmp_path: Path) -> None:
    issues = write_lines(tmp_path / "issues.jsonl", [row(0)])
    result = CliRunner().invoke(command, [str(issues), "--out", str(tmp_path / "out"), option, "nan"])
    assert result.exit_code == 2 and "nan is not a number" in result.output


@pytest.mark.processes
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_that_refuses_the_index_is_not_taken_for_that_of_the_answers(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed, "LEAST_SEGMENT", 4)
    path = write_lines(tmp_path / "issues.jsonl", [row(n) for n in range(9)])
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    out = tmp_path / "answers.jsonl"
    result = CliRunner().invoke(command, [str(path), "--out", str(out), "--jobs", str(jobs)])
    says = r"^the index in .*/issues\.jsonl failed \(Not a directory\); change TMPDIR$"
    assert isinstance(result.exception, Unavailable) and re.search(says, str(result.exception))


@pytest.mark.parametrize("name", ["answers [golang].jsonl", "run[/2].jsonl"])
def test_the_file_of_the_answers_is_named_as_it_is(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a line of any length, and whatever Rich takes for markup."""
    monkeypatch.chdir(tmp_path)
    issues = write_lines(tmp_path / "issues.jsonl", [row(n) for n in range(5)])
    out = Path("of the issues that came in the first months of the last year") / name
    out.parent.mkdir(parents=True)
    done = CliRunner().invoke(command, [str(issues), "--out", str(out), "--jobs", "1"], catch_exceptions=False)
    assert done.stderr.endswith(f"4 of 5 issues asked about; the answers are in {out}\n")


@pytest.mark.processes
@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGINT, 2), (signal.SIGTERM, 2), (signal.SIGHUP, 1)])
def test_who_is_told_to_end_puts_everything_away(number: signal.Signals, jobs: int, tmp_path: Path) -> None:
    (temporary := tmp_path / "tmp").mkdir()
    issues = write_lines(tmp_path / "issues.jsonl", [row(n % 600, id=n, body="It happens " * 50) for n in range(4_000)])
    said = told_to_end(
        number,
        *("replay", issues, "--out", tmp_path / "out.jsonl", "--jobs", str(jobs)),
        temporary=temporary,
        begun=lambda: len(list(temporary.glob("**/index.db"))) >= jobs,
        # As a terminal sends it.
        together=number is signal.SIGINT,
    )
    assert "Traceback" not in said
    # A terminal's lines are broken where they are full, a path in its middle too.
    assert re.search(r"out\.jsonlisunfinished:itholds\d+of3200answers", "".join(said.split()))
    assert said.endswith("doppel: interrupted\n" if number is signal.SIGINT else f"doppel: ended by {number.name}\n")
    assert list(temporary.iterdir()) == []
