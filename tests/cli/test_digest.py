"""C7: `doppel digest` and `doppel calibrate`, from what is stored; GitHub is not asked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.app.cli import cli
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import RepoRef, Repository
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role, UserVerdictKind
from bot.domain.report import Evidence
from bot.platform.settings import Settings
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.storage import Store, open_store

REPO = 7


@pytest.fixture
def store(prepared_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Ten comments of today, of which people with triage access call eight wrong and one right; one of last month."""
    url = f"sqlite:///{prepared_home / 'doppel.db'}"
    monkeypatch.chdir(prepared_home)
    for name, value in (
        ("DATABASE_URL", url),
        ("DOPPEL_HOME", str(prepared_home)),
        ("GITHUB_API_URL", "http://127.0.0.1:9"),
    ):
        monkeypatch.setenv(name, value)
    store, now = open_store(Settings(home=prepared_home, database_url=url)), time.time()
    store.repositories.upsert(Repository(REPO, RepoRef("acme", "app"), private=True), 1, now)
    Index(store.engine, TextAnalyser()).put(
        REPO, [IndexedIssue(1, "Crash | at *start*"), IndexedIssue(110, "It stops")]
    )
    for number, at in [(50, now - 40 * 86_400), *((n, now - 300 + n) for n in range(101, 111))]:
        evidence = (Evidence(1, 0.27, 1, True, {"full-text": 1}),)
        kept = Decision(number, at, "opened", "comment", DecisionOutcome.POSTED, 0.2, "", evidence)
        store.decisions.add(REPO, kept)
    for number in range(101, 109):
        store.signals.put(REPO, FeedbackSignal(number, FeedbackKind.REACTION, "ann", 0, False, Role.TRIAGE, now - 10))
    store.signals.put(REPO, FeedbackSignal(109, FeedbackKind.BOX, "ann", 1, True, Role.TRIAGE, now - 9))
    yield store
    store.close()


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_c7_a_week_in_words_and_a_table(store: Store) -> None:
    said = run("digest", "acme/app")
    assert "the bot looked at 10 issues (10 new). It commented on 10." in said
    assert "Feedback so far: 1 right, 8 wrong, 1 without feedback." in said
    assert "Issues are shown at a probability of 24% or more, the default." in said
    assert "#110 It stops" in said
    assert "right (a box ticked here)" in said
    assert "looked at 11 issues" in run("digest", "acme/app", "--since", "8w")


def test_c7_an_issue_is_listed_with_what_the_bot_named_and_what_people_said(store: Store) -> None:
    store.verdicts.add(REPO, 110, 1, UserVerdictKind.NOT, actor="ann", command_id=1, now=time.time())
    said = run("digest", "acme/app")
    assert "\n#110 It stops\n    27% #1 Crash | at *start*\n    wrong (not)\n" in said


def test_c7_a_title_cannot_command_the_terminal(store: Store) -> None:
    hostile = "It \x1b]0;owned\x07\x1b[2Jstops\u202e"
    Index(store.engine, TextAnalyser()).put(REPO, [IndexedIssue(110, hostile)])
    said = run("digest", "acme/app")
    assert "#110 It" in said
    assert [char for char in said if not char.isprintable() and char != "\n"] == []


def test_c7_for_programs(store: Store) -> None:
    found = json.loads(run("digest", "acme/app", "--json"))
    assert (found["commented"], found["right"], found["wrong"], found["unknown"]) == (10, 1, 8, 1)
    assert "Crash" not in json.dumps(found), "titles of a private repository are private"
    assert found["issues"][0]["number"] == 110
    since, until, at = (
        datetime.fromisoformat(text) for text in (found["since"], found["until"], found["issues"][0]["at"])
    )
    assert until - since == timedelta(days=7) and timedelta() < until - at < timedelta(minutes=10)
    wrong = CliRunner().invoke(cli, ["digest", "acme/app", "--since", "soon"])
    assert wrong.exit_code == 2
    assert "'soon' is not a time such as 36h, 7d or 4w" in wrong.output


def test_c7_the_bar_is_shown_and_put_back(store: Store) -> None:
    moved = (
        "Issues are shown at a probability of 30% or more: feedback has moved the threshold there "
        "(weighted: 1 right, 8 wrong)."
    )
    assert moved in run("calibrate", "acme/app")
    assert moved in run("digest", "acme/app")
    said = run("calibrate", "acme/app", "--reset")
    assert "Issues are shown at a probability of 24% or more, the default." in said
    assert "Feedback since 20" in said
    assert "UTC, by weight: 0 right, 0 wrong. The threshold can move once one of them reaches 6." in said
    found = json.loads(run("calibrate", "acme/app", "--json"))
    assert (found["bar"], found["from"], found["feedback"]) == (0.24, "usual", "stays")
    assert "Feedback so far: 1 right, 8 wrong, 1 without feedback." in run("digest", "acme/app")
