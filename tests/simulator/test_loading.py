"""E3: a file becomes a repository."""

from __future__ import annotations

import gzip
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from bot.simulator import Simulator

ROWS: list[dict[str, Any]] = [
    {
        "id": "T-9",
        "title": "Second",
        "body": "b",
        "created_at": "2020-01-02T00:00:00Z",
        "closed_at": None,
        "author": "bea",
    },
    {
        "id": "T-1",
        "title": "First",
        "body": None,
        "created_at": "2020-01-01T00:00:00Z",
        "closed_at": "2020-03-01T00:00:00Z",
        "duplicate_of": None,
    },
    {
        "id": "T-5",
        "title": " Third " + "x" * 300,
        "body": "y" * 70_000,
        "created_at": "2020-01-03T00:00:00+01:00",
        "closed_at": "2020-01-04T00:00:00Z",
        "duplicate_of": "T-1",
        "labels": ["bug"],
    },
    {"id": "T-7", "title": "", "body": "", "created_at": "2020-01-05", "closed_at": None, "duplicate_of": "T-1"},
]


@pytest.mark.parametrize("name", ["issues.jsonl", "issues.jsonl.gz"])
def test_e3_numbers_follow_arrival_and_states_the_file(tmp_path: Path, name: str) -> None:
    text = "\n".join(json.dumps(row) for row in ROWS) + "\n\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    sim = Simulator()
    assert sim.load_issues(path) == 4
    issues = [sim.issue("acme/app", number) for number in (1, 2, 3, 4)]
    assert [issue.title.split()[0] for issue in issues] == ["First", "Second", "Third", "(no"]
    assert [(issue.state, issue.state_reason) for issue in issues] == [
        ("closed", "completed"),
        ("open", None),
        ("closed", "duplicate"),
        ("open", None),
    ]
    assert issues[2].duplicate_of is issues[0]
    assert [issue.author.login for issue in issues] == ["ghost", "bea", "ghost", "ghost"]
    assert (len(issues[2].title), len(issues[2].body or "")) == (256, 65_536)
    assert issues[2].created_at.isoformat() == "2020-01-02T23:00:00+00:00"
    assert sim.repository("acme/app").open_issues == 2
    assert sim.open_issue("acme/app", "ada", "Next").number == 5


def test_e3_reasons_reactions_comments_labels_and_bots_are_kept() -> None:
    row = {
        "id": 1,
        "title": "Sync hangs",
        "body": "",
        "created_at": "2020-01-01T00:00:00Z",
        "closed_at": "2020-01-02T00:00:00Z",
        "author": "sweeper[bot]",
        "state_reason": "not_planned",
        "labels": ["sync", "bug"],
        "reactions": {"+1": 3, "heart": 1},
        "comments": [
            {"author": "ann", "created_at": "2020-01-01T08:00:00Z", "body": "Here too, @bea"},
            {"author": None, "created_at": "2020-01-05T08:00:00Z", "body": "Duplicate of #1"},
        ],
    }
    sim = Simulator(webhook_url="http://127.0.0.1:9/never")
    sim.add_repository("acme/app")
    sim.install("acme/app")
    before = len(sim.webhooks.log)
    sim.load_issues([row, {**ROWS[1], "state_reason": None, "comments": None, "reactions": None}], "acme/app")
    issue = sim.issue("acme/app", 1)
    assert (issue.author.type, issue.state_reason) == ("Bot", "not_planned")
    assert [label.name for label in issue.labels] == ["sync", "bug"]
    assert sorted(reaction.content for reaction in issue.reactions) == ["+1", "+1", "+1", "heart"]
    assert [(one.author.login, one.created_at.day) for one in issue.comments] == [("ann", 1), ("ghost", 5)]
    assert issue.updated_at == issue.comments[1].created_at and issue.duplicate_of is None
    assert len(sim.webhooks.log) == before


@pytest.mark.parametrize(
    "wrong", [{"state_reason": "bored"}, {"reactions": {"shrug": 1}}, {"comments": [{"body": "no time"}]}]
)
def test_e3_what_github_does_not_know_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, KeyError)):
        Simulator().load_issues([{**ROWS[2], **wrong}])


def test_e3_a_mark_before_the_first_line_is_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_text(json.dumps(ROWS[0]), encoding="utf-8-sig")
    assert Simulator().load_issues(path) == 1


def test_e3_half_a_character_is_shown_as_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_text(json.dumps({**ROWS[0], "title": "half \ud83d", "body": "\udc00 and \U0001f986"}), encoding="ascii")
    sim = Simulator()
    sim.load_issues(path)
    issue = sim.issue("acme/app", 1)
    assert (issue.title, issue.body) == ("half \ufffd", "\ufffd and \U0001f986")


def test_loading_tells_nobody(tmp_path: Path) -> None:
    sim = Simulator(webhook_url="http://127.0.0.1:9/never")
    sim.add_repository("acme/app")
    sim.load_issues(ROWS, "acme/app")
    assert sim.webhooks.log == []


def test_thousands_load_in_moments() -> None:
    draw = random.Random(1)
    words = [f"word{number}" for number in range(5_000)]
    rows = [
        {
            "id": number,
            "title": " ".join(draw.choices(words, k=8)),
            "body": " ".join(draw.choices(words, k=60)),
            "created_at": f"2020-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
            "closed_at": None,
        }
        for number in range(5_000)
    ]
    sim = Simulator()
    started = time.process_time()
    assert sim.load_issues(rows) == 5_000
    sim.flush_index()
    assert time.process_time() - started < 10
