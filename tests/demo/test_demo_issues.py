"""The demo repository's issues: enough of them, well formed, and with the mixture that a real tracker has."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import bot.app.demo

HERE = Path(bot.app.demo.__file__).parent
ISSUES: list[dict[str, Any]] = [json.loads(line) for line in (HERE / "issues.jsonl").read_text("utf-8").splitlines()]
REQUIRED = {"id": int, "title": str, "body": str, "created_at": str, "author": str}
OPTIONAL = {"labels": list, "state_reason": str, "reactions": dict, "comments": list}


def moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z")


def test_each_issue_is_one_that_github_could_hold() -> None:
    for issue in ISSUES:
        check(issue)


def check(issue: dict[str, Any]) -> None:
    assert all(isinstance(issue[name], kind) for name, kind in REQUIRED.items())
    assert all(isinstance(issue[name], kind) for name, kind in OPTIONAL.items() if name in issue)
    assert set(issue) <= {*REQUIRED, *OPTIONAL, "closed_at", "duplicate_of"}
    assert issue["title"].strip() and len(issue["title"]) <= 256, "GitHub takes titles of 1 to 256 characters"
    texts = [issue["body"], *(comment["body"] for comment in issue.get("comments", ()))]
    assert max(map(len, texts)) <= 65_536, "GitHub takes bodies of at most 65,536 characters"
    times = [issue["created_at"], *(comment["created_at"] for comment in issue.get("comments", ()))]
    assert times == sorted(times)
    if issue["closed_at"] is None:
        assert "state_reason" not in issue
    else:
        assert moment(issue["closed_at"]) > moment(issue["created_at"])
        assert issue["state_reason"] in {"completed", "not_planned", "duplicate"}
    assert (issue["duplicate_of"] is not None) == (issue.get("state_reason") == "duplicate")


def test_issues_are_numbered_in_order_of_arrival_over_about_two_years() -> None:
    assert len(ISSUES) >= 150
    assert [issue["id"] for issue in ISSUES] == list(range(1, len(ISSUES) + 1))
    times = [moment(issue["created_at"]) for issue in ISSUES]
    assert times == sorted(times)
    assert 600 <= (times[-1] - times[0]).days <= 900
    titles = [issue["title"].casefold() for issue in ISSUES]
    assert len(set(titles)) == len(titles)


def test_duplicates_point_at_an_earlier_issue_that_is_no_duplicate_itself() -> None:
    groups: dict[int, list[int]] = defaultdict(list)
    for issue in ISSUES:
        if issue["duplicate_of"] is not None:
            groups[issue["duplicate_of"]].append(issue["id"])
    assert len(groups) >= 25
    for original, copies in groups.items():
        assert original < min(copies)
        assert ISSUES[original - 1]["duplicate_of"] is None


def test_issue_forms_ask_for_the_headings_that_the_issues_have() -> None:
    for name in ("bug", "feature"):
        form = YAML(typ="safe").load(HERE / "issue_template" / f"{name}.yml")
        headings = [field["attributes"]["label"] for field in form["body"] if field["type"] != "markdown"]
        filled = [issue["body"] for issue in ISSUES if f"### {headings[0]}\n" in issue["body"]]
        assert len(filled) >= 15
        for body in filled:
            assert [line[4:] for line in body.splitlines() if line.startswith("### ")][: len(headings)] == headings
