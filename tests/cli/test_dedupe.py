"""`doppel dedupe`: from a file to a file, with an account of it."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.app.cli import main
from tests.knowledge.playbooks import MISTAKES, PATTERNS, Fake, entry, given, playbook

ALIKE = [
    entry("always use type hints for function parameters", 5, 0),
    entry("use type hints on all function parameters", 3, 1),
]


STANDS_IN = "deduplication: all-MiniLM-L6-v2 is not installed; wordllama stands in"


@pytest.fixture(autouse=True)
def wordllama(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model that is always there, whatever else is installed."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delenv("AGENTIC_CONTEXT_DEDUP_THRESHOLD", raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "playbook.json"
    book = playbook(patterns=[ALIKE[0]], mistakes=[ALIKE[1], entry("prefer composition over inheritance")])
    path.write_text(json.dumps(book), encoding="utf-8")
    return path


def run(*args: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["dedupe", *map(str, args)])
    return int(ended.value.code or 0)


def sections(text: str) -> dict[str, list[tuple[str, int, int]]]:
    book = json.loads(text)
    assert list(book) == ["version", "last_updated", "sections"]
    return {
        name: [(one["text"], one["helpful"], one["harmful"]) for one in entries]
        for name, entries in book["sections"].items()
    }


MERGED = {
    PATTERNS: [("always use type hints for function parameters", 8, 1)],
    MISTAKES: [("prefer composition over inheritance", 1, 0)],
}


def test_the_merged_playbook_goes_to_stdout_and_the_account_to_stderr(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_text(encoding="utf-8")
    assert run(file) == 0
    out, err = capsys.readouterr()
    assert sections(out) == MERGED
    assert file.read_text(encoding="utf-8") == before
    assert err.splitlines() == [
        STANDS_IN,
        "name of always use type hints for function parameters (PATTERNS & APPROACHES)  helpful/harmful 5/0 → 8/1",
        "    always use type hints for function parameters",
        "  ← 0.95  name of use type hints on all function parameters (MISTAKES TO AVOID)",
        "    use type hints on all function parameters",
        "3 entries, 1 merged into others, 2 left (wordllama, threshold 0.78)",
    ]


def test_d5a_what_contradicts_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(json.dumps(playbook(patterns=[entry("always use tabs"), entry("never use tabs")])))
    before = file.read_text()
    assert run(file, "--dry-run") == 0
    out, err = capsys.readouterr()
    assert (out, file.read_text()) == ("", before)
    pair = "name of always use tabs (PATTERNS & APPROACHES) and name of never use tabs (PATTERNS & APPROACHES)"
    assert f"{pair} contradict each other, and stay two entries\n" in err


def test_d4_e1_the_threshold_may_stand_in_the_env_file(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(file.parent)
    Path(".env").write_text("AGENTIC_CONTEXT_DEDUP_THRESHOLD=0.97\nPORT=http\n")
    assert run(file, "--dry-run") == 0
    assert (
        capsys.readouterr().err == f"{STANDS_IN}\n3 entries, 0 merged into others, 3 left (wordllama, threshold 0.97)\n"
    )
    monkeypatch.setenv("AGENTIC_CONTEXT_DEDUP_THRESHOLD", "0.9")
    assert run(file, "--dry-run") == 0
    assert "threshold 0.9)" in capsys.readouterr().err


def test_in_place_keeps_the_mode_and_leaves_nothing_beside_it(file: Path) -> None:
    file.chmod(0o640)
    assert run(file, "--in-place") == 0
    assert sections(file.read_text(encoding="utf-8")) == MERGED
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(file.parent.iterdir()) == [file]
    written = file.stat()
    assert run(file, "--in-place") == 0
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)


def test_in_place_through_a_link_changes_the_file_that_it_leads_to(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(file)
    assert run(link, "--in-place") == 0
    assert link.is_symlink()
    assert sections(file.read_text(encoding="utf-8")) == MERGED


def test_in_place_is_all_or_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    before = file.read_text(encoding="utf-8")
    monkeypatch.setattr(os, "fsync", full)
    assert run(file, "--in-place") == 2
    assert file.read_text(encoding="utf-8") == before
    assert list(file.parent.iterdir()) == [file]
    assert "No space left on device" in capsys.readouterr().err


def test_a_pipe_is_written_to_and_not_put_aside_for_a_file(file: Path, tmp_path: Path) -> None:
    """So /dev/null would have been, by root, for all that runs on the machine."""
    os.mkfifo(pipe := tmp_path / "pipe")
    with os.fdopen(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0) as reader:
        assert run(file, "--out", pipe) == 0
        assert pipe.is_fifo()
        assert sections((reader.read() or b"").decode()) == MERGED


def test_out_writes_another_file_also_where_nothing_was_merged(file: Path, tmp_path: Path) -> None:
    before, out = file.read_text(encoding="utf-8"), tmp_path / "out.json"
    mask = os.umask(0o027)
    try:
        assert run(file, "--out", out, "--threshold", 1) == 0
    finally:
        os.umask(mask)
    assert json.loads(out.read_text(encoding="utf-8")) == json.loads(before)
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert run(file, "--out", out) == 0
    assert sections(out.read_text(encoding="utf-8")) == MERGED
    assert file.read_text(encoding="utf-8") == before


def test_half_an_emoji_stays_what_it_is(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON can write one, as where an agent's text was cut off, and UTF-8 cannot."""
    book = playbook(patterns=[ALIKE[0] | {"name": "types \ud83d"}, ALIKE[1]]) | {"version": "\ud83d 😀"}
    file.write_text(json.dumps(book), encoding="utf-8")
    merged = playbook(patterns=[ALIKE[0] | {"name": "types \ud83d", "helpful": 8, "harmful": 1}])
    merged["version"] = book["version"]
    assert run(file) == 0
    assert json.loads(capsys.readouterr().out) == merged
    assert run(file, "--in-place") == 0
    assert json.loads(file.read_text(encoding="utf-8")) == merged


def test_d2_who_hangs_together_only_through_another_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    similarities = {("a", "b"): 0.9, ("b", "c"): 0.88, ("a", "c"): 0.8}
    monkeypatch.setitem(sys.modules, "sentence_transformers", Fake(given(similarities, "a", "b", "c")))
    path = tmp_path / "chain.json"
    path.write_text(json.dumps(playbook(patterns=[entry("a"), entry("b"), entry("c")])), encoding="utf-8")
    assert run(path, "--dry-run") == 0
    lines = capsys.readouterr().err.splitlines()
    assert "  ← 0.90  name of b (PATTERNS & APPROACHES)" in lines
    assert "  ← 0.80  name of c (PATTERNS & APPROACHES), through name of b (PATTERNS & APPROACHES) at 0.88" in lines
    assert lines[-1] == "3 entries, 2 merged into others, 1 left (all-MiniLM-L6-v2, threshold 0.85)"


def test_d6_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(playbook(patterns=[entry("a")])), encoding="utf-8")
    assert run(path) == 0
    out, err = capsys.readouterr()
    assert err == "1 entry: nothing to compare\n"
    assert json.loads(out) == playbook(patterns=[entry("a")])


WRONG: list[tuple[Any, tuple[Any, ...], str]] = [
    (b"{", (), "this is not JSON"),
    (b"\xff\xfe{}", (), "'utf-8' codec"),
    (b"[" * 100_000, (), "not JSON"),
    (
        b'{"version": 1, "last_updated": "", "sections": {"A": [{"name": ""}]}}',
        (),
        "sections: A: entry 1: text: Field required\n",
    ),
    (b'{"version": 1, "last_updated": "", "sections": {"A": [{}], "A": []}}', (), "['A'] stands twice"),
    (json.dumps(playbook(patterns=[entry("a") | {"harmful": 10**30}] * 2)).encode(), (), "entry 1: harmful: Input"),
    (json.dumps(playbook(patterns=ALIKE)).encode(), ("--threshold", "nan"), "threshold"),
    (json.dumps(playbook(patterns=ALIKE)).encode(), ("--model", "word2vec"), "not one of: all-MiniLM-L6-v2, wordllama"),
    (json.dumps(playbook(patterns=ALIKE)).encode(), ("--model", "all-MiniLM-L6-v2"), "not installed"),
    (json.dumps(playbook(patterns=[entry("\ud800"), entry("b")])).encode(), (), "the model failed"),
    (json.dumps(playbook(patterns=ALIKE)).encode(), ("--in-place", "--dry-run"), "exclude each other"),
    (json.dumps(playbook(patterns=ALIKE)).encode(), ("--out", "/nowhere/x.json"), "No such file"),
]


@pytest.mark.parametrize(("content", "options", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_what_is_wrong_is_said_and_nothing_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, options: tuple[str, ...], said: str
) -> None:
    path = tmp_path / "playbook.json"
    path.write_bytes(content)
    assert run(path, *options) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert "Traceback" not in err
    assert (out, path.read_bytes(), list(tmp_path.iterdir())) == ("", content, [path])


def test_the_mark_that_editors_on_windows_write_first_is_no_part_of_a_playbook(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert run(file) == 0
    assert sections(capsys.readouterr().out) == MERGED
