"""What `doppel evaluate` refuses, and how it says so."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.calling import call, write_lines
from tests.evaluation.made_up import rows

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing here"], "nothing here: there is no such file, and it is not of the form OWNER/REPO"),
        (["data/missing.jsonl.gz"], "data/missing.jsonl.gz: there is no such file"),
        (["FILE", "--picture", "a.png"], "--picture: a.png does not end in .svg"),
        (["FILE", "--picture", "none/a.svg"], "'--picture': the folder none does not exist"),
        (["FILE", "--export", "b.jsonl"], "this is for OWNER/REPO"),
        (["FILE", "--from", "1"], "none of 60 issues can be judged"),
        (["FILE", "--sources", "oracle"], "oracle"),
        (["https://example.org/acme/app"], "https://example.org/acme/app: there is no such file"),
        (["acme/app"], "Set GITHUB_TOKEN to a token that can read the repository (or APP_ID with PRIVATE_KEY"),
    ],
)
def test_what_is_wrong_is_named(
    arguments: list[str], says: str, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call("evaluate", *[str(file) if one == "FILE" else one for one in arguments])
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())


def test_a_lower_share_is_advised_only_where_it_helps(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "unclear.jsonl", [row | {"maybe_related": True, "duplicate_of": None} for row in rows()]
    )
    for share in ("0", "0.5"):
        result = call("evaluate", file, "--from", share)
        assert result.exit_code == 2
        assert "none of 60 issues can be judged; docs/evaluate.md says what is left out" in " ".join(
            result.stderr.split()
        )
        assert "--from" not in result.stderr


def test_no_picture_is_drawn_of_duplicates_none_of_which_can_be_judged(tmp_path: Path) -> None:
    """All of them are among the first fifth, which only arrives: it would show that no original is ever found."""
    early = [row if row["id"] <= 20 else row | {"duplicate_of": None} for row in rows(100)]
    assert any(row.get("duplicate_of") for row in early)
    result = call("evaluate", write_lines(tmp_path / "early.jsonl", early), "--picture", tmp_path / "a.svg")
    assert result.exit_code == 0
    assert "early.jsonl: no known duplicate can be judged: there is nothing to draw" in result.stderr
    assert not (tmp_path / "a.svg").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes that have names")
def test_a_pipe_is_no_file_that_is_missing(tmp_path: Path) -> None:
    for command, done in ("evaluate", "can be judged"), ("scan", "among"):
        os.mkfifo(pipe := tmp_path / command)
        text = "".join(json.dumps(row) + "\n" for row in rows()[:9])
        writing = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
        writing.start()
        result = call(command, pipe)
        assert result.exit_code == 0, result.stderr
        assert done in result.stdout
        writing.join()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"id": 99, "candidates": []}, "line 2: the issues hold no 99"),
        ({"id": 20, "candidates": []}, "line 2: a second answer for 20"),
        ({"id": 30, "candidates": [{"id": 30, "confidence": 0.5}]}, "line 2: candidate 30 had not arrived yet"),
        ({"id": 30, "candidates": [{"id": "x", "confidence": 0.5}]}, "line 2: the issues hold no candidate 'x'"),
        ({"id": 30, "candidates": [{"id": 1, "confidence": 7}]}, "line 2: a confidence lies between 0 and 1"),
        ({"id": 30, "candidates": [{"id": 1}]}, "line 2: an answer has the form"),
        ({"id": 30, "candidates": [{"id": 1, "confidence": 10**400}]}, "line 2: an answer has the form"),
        (
            {"id": 30, "candidates": [{"id": 1, "confidence": 0.1}, {"id": 2, "confidence": 0.2}]},
            "line 2: the candidates are not in the order of their confidence",
        ),
    ],
)
def test_answers_that_prove_nothing_are_refused(answer: Any, says: str, file: Path, tmp_path: Path) -> None:
    answers = write_lines(tmp_path / "answers.jsonl", [{"id": 20, "candidates": []}, answer])
    result = call("evaluate", file, "--answers", answers)
    assert result.exit_code == 2
    assert says in result.stderr


@pytest.mark.parametrize(("option", "value"), [("sources", "github-search"), ("relevance", "title")])
def test_what_given_answers_were_not_asked_with_is_refused(option: str, value: str, file: Path, tmp_path: Path) -> None:
    """The figures of the answers would be taken for those of these options."""
    answers = write_lines(tmp_path / "answers.jsonl", [{"id": 20, "candidates": []}])
    result = call("evaluate", file, "--answers", answers, f"--{option}", value)
    assert result.exit_code == 2
    assert "--weights: with --answers nothing is asked; give these to" in result.stderr
