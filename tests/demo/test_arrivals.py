"""The demo repository, always of these days, and scenes from a file: what is held back, what arrives once more."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.app.demo.scenario import ARRIVALS, REPOSITORY, Expect, seed, split
from bot.simulator import Clock, Simulator


def write(path: Path, count: int, duplicates: dict[int, int]) -> Path:
    rows = [
        {
            "id": f"APP-{serial}",
            "title": f"Issue number {serial} " + "x" * 300 * (serial == count),
            "body": "words " * 50,
            # Written in the order of arrival, which is not the order of the lines.
            "created_at": f"2020-01-{serial // 24 + 1:02}T{serial % 24:02}:00:00Z",
            "closed_at": None,
            "author": None,
            "duplicate_of": f"APP-{duplicates[serial]}" if serial in duplicates else None,
        }
        for serial in range(count, 0, -1)
    ]
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def test_the_last_issues_arrive_as_news_after_a_known_report(tmp_path: Path) -> None:
    known, scenes = split(write(tmp_path / "issues.jsonl.gz", 60, {30: 3, 50: 7, 59: 8}))
    assert len(known) == 60 - ARRIVALS
    again, *arriving = scenes
    assert again.shows == (50,) and again.title.startswith("Issue number 50")
    assert [scene.title.split()[2] for scene in arriving] == ["57", "58", "59", "60"]
    assert all(scene.expect is Expect.ANYTHING for scene in arriving)
    assert max(len(scene.title) for scene in scenes) <= 256


def test_the_number_of_the_known_report_is_its_number_in_the_simulator(tmp_path: Path) -> None:
    known, (again, *_) = split(write(tmp_path / "issues.jsonl.gz", 60, {50: 7}))
    simulator = Simulator()
    assert seed(simulator, "acme/app", known) == len(known)
    assert simulator.issue("acme/app", again.shows[0]).title == again.title


@pytest.mark.parametrize("count", [1, 2, 5])
def test_of_the_shortest_files_too_an_issue_arrives(count: int, tmp_path: Path) -> None:
    """The show said "0 scenes, all as they should be" after it had shown nothing."""
    known, scenes = split(write(tmp_path / "issues.jsonl.gz", count, {}))
    assert (len(known), len(scenes)) == (count - 1, 1)
    assert scenes[0].title.startswith(f"Issue number {count} ") and scenes[0].expect is Expect.ANYTHING


@pytest.mark.parametrize("year", [2025, 2031])
def test_the_newest_issue_is_a_few_days_old_in_any_year(year: int) -> None:
    simulator = Simulator(clock=Clock(datetime(year, 6, 1, 12, tzinfo=UTC)))
    assert seed(simulator, REPOSITORY) == 176
    issues = list(simulator.issues_of(simulator.repository(REPOSITORY)))
    age = simulator.now() - issues[-1].created_at
    assert timedelta(days=3) <= age < timedelta(days=4)
    assert 600 < (issues[-1].created_at - issues[0].created_at).days < 900
    for issue in issues:
        times = [issue.created_at, *(comment.created_at for comment in issue.comments)]
        assert times == sorted(times) and issue.updated_at >= times[-1]
        assert issue.closed_at is None or issue.created_at < issue.closed_at <= issue.updated_at
