"""Past issues in order of arrival: nothing from later reaches an earlier one."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Iterable, Sequence
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
from bot.quality.replay.replay import FutureLeak, IndexMirror, ReplayGitHub, ReplayOptions, choose_arrivals, replay
from bot.search.finder import Finder, FinderSettings, FindOptions
from bot.search.index import TextAnalyser
from bot.search.index.index import ephemeral_index
from bot.search.matching import Matcher
from bot.search.sources.federated import only_sources

START = datetime(2024, 1, 1, tzinfo=UTC)
OPTIONS = FindOptions(threshold=0.0, state="all")
TOPICS = ("login crashes behind the proxy", "export writes an empty file", "fonts are blurred", "menu does not open")


def row(number: int, **more: Any) -> dict[str, Any]:
    moment = (START + timedelta(hours=number)).isoformat().replace("+00:00", "Z")
    title = f"{TOPICS[number % 4]} v{number}"
    return {"id": f"APP-{number}", "title": title, "body": "It happens daily", "created_at": moment} | more


def write(path: Path, rows: Sequence[Any]) -> Path:
    text = "".join(json.dumps(one) + "\n" for one in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


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
    answers = run(write(tmp_path / "issues.jsonl.gz", rows[::-1]), "--top", "3")
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
        one | {"duplicate_of": "APP-0", "maybe_related": True, "labels": ["bug"], "state": "closed"} for one in plain
    ]
    assert run(write(tmp_path / "a.jsonl", plain)) == run(write(tmp_path / "b.jsonl", labelled))


@pytest.mark.slow
def test_what_comes_later_changes_nothing_before(tmp_path: Path) -> None:
    rows = [row(number) for number in range(16)]
    changed = rows[:12] + [row(n, title="login proxy fonts menu export", body="login " * 50) for n in range(12, 16)]
    whole, other = (run(write(tmp_path / name, them), "--from", "0") for name, them in (("a", rows), ("b", changed)))
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
    issues = read_archive(write(tmp_path / "issues.jsonl", [row(number) for number in range(12)]))
    finder = Finder(github, settings=FinderSettings(hybrid=False))
    with pytest.raises(FutureLeak, match=caught):
        list(replay(issues, range(12), finder, github, OPTIONS))


class Oracle(IndexMirror):
    """A planted leak: the index holds all issues before the first has arrived."""

    def load(self, issues: Sequence[Issue]) -> None:
        github = ReplayGitHub(searchable=False)
        self.put(github.arrive(past) for past in read_archive(self.path))

    path: Path


class Hasty(IndexMirror):
    """Another one: in the index issues are closed from the start."""

    def put(self, issues: Iterable[Issue]) -> None:
        super().put(dataclasses.replace(issue, state="closed", closed_at=issue.created_at) for issue in issues)


@pytest.mark.parametrize(("kind", "caught"), [(Oracle, "arrived before"), (Hasty, "closed only after")])
def test_a_future_leak_of_the_index_is_caught(kind: type[IndexMirror], caught: str, tmp_path: Path) -> None:
    path = write(tmp_path / "issues.jsonl", [row(number) for number in range(12)])
    github = ReplayGitHub(searchable=False)
    with ephemeral_index(TextAnalyser()) as index:
        settings = FinderSettings(sources=only_sources("full-text"))
        finder = Finder(github, settings=settings, matcher=Matcher(index), repo_id=1)
        mirror = kind(index, 1)
        mirror.path = path  # type: ignore[attr-defined]
        with pytest.raises(FutureLeak, match=caught):
            list(replay(read_archive(path), range(12), finder, github, OPTIONS, mirror))


@pytest.mark.processes
def test_several_processes_give_the_answers_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexed, "LEAST_SEGMENT", 5)
    closed = (START + timedelta(hours=12)).isoformat()
    path = write(tmp_path / "issues.jsonl", [row(number, closed_at=closed) for number in range(25)])
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
    issues = read_archive(write(tmp_path / "issues.jsonl", [row(number) for number in range(18)]))
    asking = ReplayOptions(weights="nonsense")
    with pytest.raises(ValueError, match="Expecting value"):
        list(replay_index(issues, range(8, 40), asking, jobs=2))


def test_the_sources_of_index_and_search_are_not_mixed(tmp_path: Path) -> None:
    path = write(tmp_path / "issues.jsonl", [row(0)])
    result = CliRunner().invoke(command, [str(path), "--out", str(tmp_path / "o"), "--sources", "index,github-search"])
    assert result.exit_code == 2
    assert "apart" in result.output


def test_an_issue_is_open_until_the_moment_it_was_closed(tmp_path: Path) -> None:
    closed = (START + timedelta(hours=5)).isoformat()
    issues = read_archive(write(tmp_path / "issues.jsonl", [row(0, closed_at=closed), *map(row, range(1, 8))]))
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
    issues = read_archive(write(tmp_path / "issues.jsonl", rows))
    assert [issue.id for issue in issues] == ["X", 9, 10]
    assert issues[0].labels == ("bug", "new")
    assert (issues[1].title, issues[1].body, issues[1].closed_at) == ("", "", None)


def test_an_unknown_source_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "issues.jsonl", [row(0)])
    result = CliRunner().invoke(command, [str(path), "--out", str(tmp_path / "o"), "--sources", "oracle"])
    assert result.exit_code == 2
    assert "oracle" in result.output
