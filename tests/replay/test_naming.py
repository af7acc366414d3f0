"""H5: what an issue names in its text is not told to it, in a replay as in the bot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.app.cli.replay import replay as command
from bot.quality.replay.archive import archive_of
from bot.quality.replay.replay import REPO, FileIds
from tests.calling import write_lines


@pytest.mark.parametrize(
    ("id", "text", "is_named"),
    [
        (12, "like #12, but louder", True),
        (12, "https://github.com/acme/app/issues/12#issuecomment-3 says so", True),
        (12, "`#12` is code, 12 is a number and #123 is another issue", False),
        (13, "#13 has not arrived yet", False),
        ("APP-12", "See APP-12.", True),
        ("APP-12", "MYAPP-12, APP-123 and `APP-12` are something else", False),
        ("APP-13", "APP-13 has not arrived yet", False),
    ],
)
def test_h5_an_earlier_issue_is_named_by_the_files_id(id: int | str, text: str, is_named: bool) -> None:
    ids = FileIds()
    ids.add(12 if isinstance(id, int) else "APP-12", 1)
    (asked,) = archive_of([({"id": "X", "title": "", "body": text, "created_at": "2024-01-01"}, "line 1")])
    assert ids.named(asked) == (frozenset({f"{REPO}#1"}) if is_named else frozenset())


def test_h5_a_plain_number_names_nobody_though_other_issues_of_the_file_have_words_for_ids() -> None:
    ids = FileIds()
    earlier: list[int | str] = [404, "137", "APP-7"]
    for number, id in enumerate(earlier, 1):
        ids.add(id, number)
    text = "It ends with exit code 137 after a 404, since 8080 is taken. Like APP-7?"
    (asked,) = archive_of([({"id": "X", "title": "", "body": text, "created_at": "2024-01-01"}, "line 1")])
    assert ids.named(asked) == {f"{REPO}#3"}


@pytest.mark.parametrize("sources", ["index", "github-search"])
def test_h5_a_replay_leaves_out_what_the_text_names(sources: str, tmp_path: Path) -> None:
    rows = [
        {"id": 70 + n, "title": "The export writes an empty file", "body": body, "created_at": f"2024-01-0{n}"}
        for n, body in enumerate(["An empty file", "Empty again", "Empty as in #71, but with colours"], 1)
    ]
    path, out = write_lines(tmp_path / "issues.jsonl", rows), tmp_path / "answers.jsonl"
    CliRunner().invoke(
        command, [str(path), "--out", str(out), "--from", "0", "--sources", sources], catch_exceptions=False
    )
    answers = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    found = {answer["id"]: {one["id"] for one in answer["candidates"]} for answer in answers}
    assert found == {71: set(), 72: {71}, 73: {72}}
