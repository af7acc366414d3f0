"""E3: a file becomes a repository."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import requests

from bot.simulator import Simulator, start_simulator

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


def test_e3_issues_of_the_calendars_first_years_can_be_listed() -> None:
    """As times that nobody set read where a programme has put them into a zone. The server answered 500."""
    row = {"id": 1, "title": "First", "created_at": "0001-01-01T00:00:00-08:00", "closed_at": "0999-01-01"}
    with start_simulator() as server:
        server.sim.load_issues([row])
        headers = {"Authorization": f"Bearer {server.sim.user_token('ada')}"}
        url = f"{server.url}/repos/acme/app/issues?state=all"
        (issue,) = requests.get(url, headers=headers, timeout=60).json()
    assert (issue["created_at"], issue["closed_at"]) == ("0001-01-01T08:00:00Z", "0999-01-01T00:00:00Z")


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


COMMENT = {"author": "ann", "created_at": "2020-01-01T08:00:00Z", "body": "Here too"}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"id": None}, "issue 2 has no id"),
        ({"id": True}, "issue 2: id is not a text"),
        ({"title": ["x"]}, "issue 2: title is not a text"),
        ({"author": {"login": "ann"}}, "issue 2: author is not a text"),
        ({"created_at": 5}, "issue 2: created_at is 5, which is not a time like 2024-01-31T12:00:00Z"),
        ({"closed_at": "0001-01-01T00:00:00+09:00"}, "issue 2: closed_at is '0001-01-01T00:00:00+09:00', which is not"),
        ({"labels": "bug"}, "issue 2: labels is not a list"),
        ({"state_reason": "bored"}, "issue 2: 'bored' is no reason for closing an issue"),
        ({"state_reason": ["bored"]}, "issue 2: ['bored'] is no reason for closing an issue"),
        ({"reactions": {"shrug": 1}}, "issue 2: 'shrug' is no reaction of GitHub's"),
        ({"reactions": "many"}, 'issue 2: reactions is not an object with numbers, such as {"+1": 3}'),
        ({"reactions": {"+1": -1}}, "issue 2: reactions is not an object with numbers"),
        ({"comments": "x"}, "issue 2: comments is not a list"),
        ({"comments": 3}, "issue 2: comments is not a list"),
        ({"comments": ["x"]}, "issue 2: a comment is an object with author, created_at and body"),
        ({"comments": [{"body": "no time"}]}, "issue 2: a comment is an object with author, created_at and body"),
        ({"comments": [{**COMMENT, "body": []}]}, "issue 2: body of a comment is not a text"),
    ],
)
def test_e3_what_cannot_be_used_is_refused_by_its_place(wrong: dict[str, Any], says: str) -> None:
    sim = Simulator()
    with pytest.raises(ValueError, match=f"^{re.escape(says)}"):
        sim.load_issues([ROWS[0], {**ROWS[2], **wrong}])
    assert "acme/app" not in sim.names, "nothing of it is there"


def test_e3_what_an_evaluation_takes_is_taken() -> None:
    sim = Simulator()
    undated = {"id": 8, "title": 5, "body": None, "created_at": None, "author": 5, "labels": [{"name": "bug"}, 7]}
    assert sim.load_issues([*ROWS, undated]) == 5
    issue = sim.issue("acme/app", 1)
    assert (issue.title, issue.author.login, [label.name for label in issue.labels]) == ("5", "5", ["bug", "7"])
    assert issue.created_at == sim.issue("acme/app", 2).created_at, "before all others, at the time of the first"
    assert Simulator().load_issues([undated]) == 1


def test_e3_what_a_table_leaves_empty_is_not_there_and_long_labels_are_cut() -> None:
    sim = Simulator()
    closed = {**ROWS[1], "duplicate_of": "", "labels": [""]}
    named = {**ROWS[0], "labels": ["bug", "Bug", None, {"name": None}, " ", "x" * 60]}
    assert sim.load_issues([closed, named]) == 2
    first, second = (sim.issue("acme/app", number) for number in (1, 2))
    assert (first.state_reason, first.labels) == ("completed", [])
    assert [label.name for label in second.labels] == ["bug", "x" * 50]


def test_e3_an_id_that_is_there_twice_mixes_up_no_duplicates_and_nothing_is_one_of_itself() -> None:
    sim = Simulator()
    closed, old = "2020-02-01T00:00:00Z", {**ROWS[0], "id": "A"}
    copy = {**old, "id": "B", "created_at": "2020-01-03", "closed_at": closed, "duplicate_of": "A"}
    again = {**old, "id": "B", "created_at": "2020-01-04", "closed_at": closed}
    own = {**old, "id": "C", "created_at": "2020-01-05", "closed_at": closed, "duplicate_of": "C"}
    assert sim.load_issues([old, copy, again, own]) == 4
    issues = [sim.issue("acme/app", number) for number in (1, 2, 3, 4)]
    assert [issue.state_reason for issue in issues] == [None, "duplicate", "completed", "duplicate"]
    assert [issue.duplicate_of for issue in issues] == [None, issues[0], None, None]


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
