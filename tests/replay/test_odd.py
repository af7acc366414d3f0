"""`doppel replay` with files, databases and ends that nobody wishes for: nothing is lost, mixed up or left behind."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import sqlite3
import tempfile
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from bot.cli.evaluate import evaluate
from bot.cli.replay import replay as command
from bot.errors import SettingsError, Unavailable, UserError
from bot.index import Index, IndexedIssue, TextAnalyser
from bot.replay import Asking, PastIssue, indexed, read_archive, replay_index
from bot.replay.rooms import ABANDONED
from bot.simulator.operations.rows import read_rows
from bot.store.database.engine import make_engine
from bot.store.database.migrate import migrate
from bot.store.tables.index import indexed_issues
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes that have names")
def test_a_pipe_may_be_compressed_too(tmp_path: Path) -> None:
    os.mkfifo(path := tmp_path / "pipe")
    data = gzip.compress(json.dumps(row(7)).encode())
    writing = threading.Thread(target=path.write_bytes, args=(data,))
    writing.start()
    assert [one.id for one in read_archive(path)] == [7]
    writing.join()


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
        ('{"id": 1, "created_at": ""}', "created_at is '', which is not a time like 2024-"),
        ('{"id": 1, "created_at": 1700000000}', "created_at is 1700000000, which is not a time"),
        ('{"id": 1, "created_at": "2024-01-01", "closed_at": "soon"}', "closed_at is 'soon'"),
        ('{"id": 1, "created_at": "0001-01-01T00:00:00+14:00"}', "created_at is '0001-"),
        ('{"id": 1, "created_at": "9999-12-31T23:59:59-12:00"}', "created_at is '9999-"),
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


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    """A few hundred kilobytes, compressed, can hold a line of hundreds of megabytes."""
    path = tmp_path / "issues.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(f"{json.dumps(row(0))}\n".encode() + b'{"id": 1, "title": "')
        for _ in range(128):
            file.write(b"a" * 2**20)
    tracemalloc.start()
    with pytest.raises(UserError, match="line 2: longer than 16,777,216 characters"):
        read_archive(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100 * 2**20


def test_issues_of_an_unknown_time_come_before_all_others(tmp_path: Path) -> None:
    rows = [row(3), row(1), row(7, created_at=None), row(5, created_at=None)]
    found = read_archive(write_lines(tmp_path / "issues.jsonl", rows))
    assert [one.id for one in found] == [5, 7, 1, 3]
    assert [one.created_at for one in found[:2]] == [found[2].created_at] * 2
    assert [one.dated for one in found] == [False, False, True, True]
    alone = read_archive(write_lines(tmp_path / "alone.jsonl", rows[2:]))
    assert [(one.id, one.created_at.year) for one in alone] == [(5, 1970), (7, 1970)]


def test_the_file_of_issues_is_never_overwritten(tmp_path: Path) -> None:
    issues = write_lines(tmp_path / "issues.jsonl", [row(n) for n in range(9)])
    (other := tmp_path / "other.jsonl").symlink_to(issues)
    before = issues.read_bytes()
    result = CliRunner().invoke(command, [str(issues), "--out", str(issues)])
    assert isinstance(result.exception, UserError) and "is one of the files that are read" in str(result.exception)
    result = CliRunner().invoke(command, [str(issues), "--out", str(other)])
    assert (result.exit_code, "this is a link" in result.output) == (2, True)
    assert issues.read_bytes() == before


@pytest.mark.slow
def test_answers_are_compressed_where_the_name_says_so(tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_text("".join(json.dumps(row(number)) + "\n" for number in range(10)), encoding="utf-8")
    for out in ("a.jsonl", "a.jsonl.gz"):
        assert CliRunner().invoke(command, [str(path), "--out", str(tmp_path / out)]).exit_code == 0
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == (tmp_path / "a.jsonl").read_bytes()


def test_a_hyphen_is_no_file_by_accident(tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_text(json.dumps(row(1)) + "\n", encoding="utf-8")
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
    assert CliRunner().invoke(evaluate, [str(issues), "--min-confidence", "nan"]).exit_code == 2


@pytest.mark.parametrize("url", ["nonsense", "mysql://u:hush@h/x", "sqlite://"])
def test_a_database_of_no_kind_that_there_is_is_refused_without_its_password(url: str, tmp_path: Path) -> None:
    issues = write_lines(tmp_path / "issues.jsonl", [row(0)])
    result = CliRunner().invoke(command, [str(issues), "--out", str(tmp_path / "out"), "--store", url])
    assert isinstance(result.exception, SettingsError)
    assert str(result.exception).startswith("--store: must be postgresql://") and "hush" not in str(result.exception)


@pytest.mark.processes
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_database_that_fails_is_named_without_its_address(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed, "LEAST_SEGMENT", 4)
    issues = read_archive(write_lines(tmp_path / "issues.jsonl", [row(n) for n in range(9)]))
    for store, says in (
        ("postgresql+psycopg://u:hush@127.0.0.1:1/x", r"^the database of --store failed \(nothing listens there\)$"),
        (f"sqlite:///{tmp_path}", r"^the database of --store failed \(the file cannot be opened\)$"),
    ):
        with pytest.raises(Unavailable, match=says):
            list(replay_index(issues, range(9), Asking(store=store), jobs))


@pytest.mark.processes
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("store", "says"),
    [
        ("sqlite:///{}/index.db", r"^the database of --store failed \(File exists\)$"),
        ("", r"^the replay's index in .*/issues\.jsonl failed \(Not a directory\); TMPDIR names another place$"),
    ],
)
def test_a_folder_that_refuses_the_index_is_not_taken_for_that_of_the_answers(
    jobs: int, store: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed, "LEAST_SEGMENT", 4)
    path = write_lines(tmp_path / "issues.jsonl", [row(n) for n in range(9)])
    monkeypatch.setattr(tempfile, "tempdir", None if store else str(path))
    result = CliRunner().invoke(
        command,
        [str(path), "--out", str(tmp_path / "answers.jsonl"), "--store", store.format(path), "--jobs", str(jobs)],
    )
    assert isinstance(result.exception, Unavailable) and re.search(says, str(result.exception))


def test_a_replay_s_own_index_that_fails_says_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> None:
        raise sa.exc.OperationalError("INSERT", {}, sqlite3.OperationalError("secret"))

    monkeypatch.setattr(Index, "put", full)
    issues = read_archive(write_lines(tmp_path / "issues.jsonl", [row(n) for n in range(9)]))
    with pytest.raises(
        Unavailable, match=r"the replay's index in .* failed \(OperationalError\); TMPDIR names another"
    ):
        list(replay_index(issues, range(5, 9), Asking()))


@pytest.mark.slow
def test_two_replays_in_one_database_do_not_take_each_other_s_issues_for_theirs(store_url: str, tmp_path: Path) -> None:
    rows = [row(n) for n in range(40)]
    one = read_archive(write_lines(tmp_path / "one.jsonl", rows[:20]))
    other = read_archive(write_lines(tmp_path / "other.jsonl", rows[20:]))

    def ids(issues: list[PastIssue]) -> list[Any]:
        return list(replay_index(issues, range(20), Asking()))

    asking = Asking(store=store_url)
    taking_turns = zip(replay_index(one, range(20), asking), replay_index(other, range(20), asking), strict=True)
    first, second = map(list, zip(*taking_turns, strict=True))
    assert (first, second) == (ids(one), ids(other))


@pytest.mark.slow
def test_what_a_replay_that_was_killed_has_left_goes_with_the_next_one_a_day_later(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(store_url)
    migrate(engine)
    # A host's own repository, and one of how replays were kept before.
    for repo in (5, -1_000):
        Index(engine, TextAnalyser()).put(repo, [IndexedIssue(1, "It is there")])

    def repositories() -> set[int]:
        with engine.connect() as connection:
            return set(connection.execute(sa.select(indexed_issues.c.repo_id)).scalars())

    issues = read_archive(write_lines(tmp_path / "issues.jsonl", [row(n) for n in range(9)]))
    killed = replay_index(issues, range(9), Asking(store=store_url))
    for _ in range(4):
        next(killed)
    (left,) = repositories() - {5}
    list(replay_index(issues, range(9), Asking(store=store_url)))
    assert repositories() == {5, left}, "it may be under way"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + ABANDONED + 1)
    list(replay_index(issues, range(9), Asking(store=store_url)))
    assert repositories() == {5}
    killed.close()
    engine.dispose()


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
@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGTERM, 1), (signal.SIGTERM, 2), (signal.SIGHUP, 1)])
def test_who_is_told_to_end_puts_everything_away(number: signal.Signals, jobs: int, tmp_path: Path) -> None:
    (temporary := tmp_path / "tmp").mkdir()
    issues = write_lines(tmp_path / "issues.jsonl", [row(n % 600, id=n, body="It happens " * 50) for n in range(4_000)])
    said = told_to_end(
        number,
        *("replay", issues, "--out", tmp_path / "out.jsonl", "--jobs", str(jobs)),
        temporary=temporary,
        begun=lambda: len(list(temporary.glob("**/index.db"))) >= jobs,
    )
    assert "is unfinished: it holds" in " ".join(said.split())
    assert said.endswith(f"doppel: ended by {number.name}\n")
    assert list(temporary.iterdir()) == []
