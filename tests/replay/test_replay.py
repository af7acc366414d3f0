"""Past issues in order of arrival: nothing from later reaches an earlier one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.app.cli.replay import replay as command
from bot.domain.entities import Issue, RepoRef
from bot.quality.replay import drivers as indexed
from bot.quality.replay.archive import PastIssue, read_archive
from bot.quality.replay.drivers import replay_index
from bot.quality.replay.replay import FutureLeak, ReplayGitHub, ReplayOptions, choose_arrivals, replay
from bot.search.finder import Finder, FinderSettings, FindOptions
from tests.calling import write_lines

START = datetime(2024, 1, 1, tzinfo=UTC)
OPTIONS = FindOptions(threshold=0.0, state="all")
TOPICS = ("login crashes behind the proxy", "export writes an empty file", "fonts are blurred", "menu does not open")


def row(number: int, **more: Any) -> dict[str, Any]:
    moment = (START + timedelta(hours=number)).isoformat().replace("+00:00", "Z")
    title = f"{TOPICS[number % 4]} v{number}"
    return {"id": f"APP-{number}", "title": title, "body": "It happens daily", "created_at": moment} | more


def run(path: Path, *options: str) -> list[dict[str, Any]]:
    out = path.with_name("replay.jsonl")
    result = CliRunner().invoke(command, [str(path), "--out", str(out), *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    # However many processes there are, every issue arrives once.
    assert f"{(arrivals := len(read_archive(path)))}/{arrivals} " in result.stderr
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_answers_are_in_order_of_arrival_with_the_files_ids_best_first(tmp_path: Path) -> None:
    rows = [row(number) for number in range(24)]
    answers = run(write_lines(tmp_path / "issues.jsonl", rows[::-1]), "--top", "3")
    assert [answer["id"] for answer in answers] == [f"APP-{n}" for n in range(4, 24)]
    arrived = {one["id"]: n for n, one in enumerate(rows)}
    for answer in answers:
        sure = [candidate["confidence"] for candidate in answer["candidates"]]
        assert 1 <= len(sure) <= 3
        assert sure == sorted(sure, reverse=True)
        assert all(0 < confidence < 1 for confidence in sure)
        assert all(arrived[one["id"]] < arrived[answer["id"]] for one in answer["candidates"])
    # The four topics take turns.
    assert all(arrived[a["candidates"][0]["id"]] % 4 == arrived[a["id"]] % 4 for a in answers)


@pytest.mark.slow
def test_labels_of_duplicates_are_never_read(tmp_path: Path) -> None:
    plain = [row(number) for number in range(12)]
    labelled = [
        one
        | dict.fromkeys(("maybe_related", "body_mentions_master", "dup_unknown_master"), True)
        | {"duplicate_of": "APP-0", "labels": ["bug"], "state": "closed"}
        for one in plain
    ]
    assert run(write_lines(tmp_path / "a.jsonl", plain)) == run(write_lines(tmp_path / "b.jsonl", labelled))


@pytest.mark.slow
def test_what_comes_later_changes_nothing_before(tmp_path: Path) -> None:
    rows = [row(number) for number in range(16)]
    changed = rows[:12] + [row(n, title="login proxy fonts menu export", body="login " * 50) for n in range(12, 16)]
    files = (tmp_path / "a", rows), (tmp_path / "b", changed)
    whole, other = (run(write_lines(path, them), "--from", "0") for path, them in files)
    assert whole[:12] == other[:12]
    assert whole[12:] != other[12:]


class Clairvoyant(ReplayGitHub):
    """A planted leak: issue 7 is there, and found, before issue 5 has arrived."""

    def arrive(self, past: PastIssue) -> Issue:
        issue = super().arrive(past)
        if issue.number == 5:
            for _ in range(2):
                super().arrive(past)
        return issue


class Prophet(ReplayGitHub):
    """Another planted leak: all are closed from the start, though nobody has closed them yet."""

    def arrive(self, past: PastIssue) -> Issue:
        issue = super().arrive(past)
        self._close(issue.number, past.created_at)
        return issue


@pytest.mark.parametrize(("github", "caught"), [(Clairvoyant(), "arrived before"), (Prophet(), "closed only after")])
def test_a_future_leak_is_caught(github: ReplayGitHub, caught: str, tmp_path: Path) -> None:
    issues = read_archive(write_lines(tmp_path / "issues.jsonl", [row(number) for number in range(12)]))
    finder = Finder(github, settings=FinderSettings(hybrid=False))
    with pytest.raises(FutureLeak, match=caught):
        list(replay(issues, range(12), finder, github, OPTIONS))


@pytest.mark.processes
def test_several_processes_give_the_answers_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexed, "LEAST_SEGMENT", 5)
    closed = (START + timedelta(hours=12)).isoformat()
    path = write_lines(tmp_path / "issues.jsonl", [row(number, closed_at=closed) for number in range(25)])
    alone, shared = run(path, "--jobs", "1"), run(path, "--jobs", "2")
    assert [answer["id"] for answer in shared] == [f"APP-{number}" for number in range(5, 25)]
    # One thread adds up in another order than several, so that a digit may be rounded otherwise.
    for one, other in zip(alone, shared, strict=True):
        sure = {candidate["id"]: candidate["confidence"] for candidate in other["candidates"]}
        assert {candidate["id"]: candidate["confidence"] for candidate in one["candidates"]} == pytest.approx(
            sure, abs=2e-6
        )
        assert [candidate["id"] for candidate in one["candidates"]] == list(sure)


@pytest.mark.processes
def test_what_goes_wrong_in_a_process_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexed, "LEAST_SEGMENT", 5)
    issues = read_archive(write_lines(tmp_path / "issues.jsonl", [row(number) for number in range(18)]))
    asking = ReplayOptions(weights="nonsense")
    with pytest.raises(ValueError, match="Expecting value"):
        list(replay_index(issues, range(8, 40), asking, jobs=2))


@pytest.mark.parametrize("sources", ["index,github-search", "oracle"])
def test_sources_that_are_unknown_or_do_not_go_together_are_refused(sources: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "issues.jsonl", [row(0)])
    result = CliRunner().invoke(command, [str(path), "--out", str(tmp_path / "o"), "--sources", sources])
    assert (result.exit_code, f"'{sources}' is not one of 'index', " in result.output) == (2, True)


def test_an_issue_is_open_until_the_moment_it_was_closed(tmp_path: Path) -> None:
    closed = (START + timedelta(hours=5)).isoformat()
    issues = read_archive(write_lines(tmp_path / "issues.jsonl", [row(0, closed_at=closed), *map(row, range(1, 8))]))
    github = ReplayGitHub()
    states = []
    for past in issues:
        github.arrive(past)
        states.append(github.issue(RepoRef("replay", "replay"), 1).state)
    assert states == ["open"] * 5 + ["closed"] * 3


def test_the_sample_is_drawn_from_what_follows_the_warm_up_and_repeats_with_its_seed() -> None:
    issues = [PastIssue(n, "", "", START, None, "", ()) for n in range(100)]
    assert choose_arrivals(issues, 0.2, None, 0) == list(range(20, 100))
    sample = choose_arrivals(issues, 0.2, 10, 7)
    assert len(sample) == 10
    assert sample == choose_arrivals(issues, 0.2, 10, 7) != choose_arrivals(issues, 0.2, 10, 8)
    assert min(sample) >= 20
    assert choose_arrivals(issues, 0.2, 500, 0) == list(range(20, 100))


def test_numbers_and_strings_are_ids_and_missing_fields_are_empty(tmp_path: Path) -> None:
    rows = [{"id": 10, "created_at": "2024-01-01T00:00:00Z"}, {"id": 9, "title": None, "created_at": "2024-01-01"}]
    rows += [{"id": "X", "created_at": "2023-12-31", "labels": [{"name": "bug"}, "new"], "closed_at": "2024-01-02"}]
    issues = read_archive(write_lines(tmp_path / "issues.jsonl", rows))
    assert [issue.id for issue in issues] == ["X", 9, 10]
    assert issues[0].labels == ("bug", "new")
    assert (issues[1].title, issues[1].body, issues[1].closed_at) == ("", "", None)
