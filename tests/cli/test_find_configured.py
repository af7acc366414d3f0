"""`doppel find` where the repository has settings of its own, and people here have decided."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.app.wiring.clients import build_github, reader
from bot.conversation.config.schema import CONFIG_PATH, MIN_CONFIDENCE
from bot.domain.entities import RepoRef, Repository
from bot.domain.feedback import UserVerdictKind
from bot.platform import settings as host
from bot.simulator import Server, start_simulator
from bot.storage import open_store
from tests.cli.finding import listed, run

pytestmark = pytest.mark.slow


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """`acme/app` with settings of its own: a sibling, pull requests, a known issue, and a threshold of its own."""
    monkeypatch.chdir(tmp_path)
    with start_simulator() as server:
        sim = server.sim
        for name in ("acme/app", "acme/lib"):
            sim.add_repository(name)
        sim.install("acme")
        sim.open_issue("acme/app", "ann", "The map is grey", "Since the update.")
        pull = ("Parser drops trailing comments", "`CommentLost: line 12`")
        sim.open_issue("acme/app", "bob", *pull, is_pull_request=True)
        sim.open_issue("acme/lib", "cy", "Parser drops all trailing comments", "`CommentLost: line 12`, always.")
        sim.open_issue("acme/app", "dan", "Trailing comments are dropped by the parser", "`CommentLost: line 12`")
        sim.write_file("acme/app", CONFIG_PATH, SETTINGS)
        sim.flush_index()
        for name, value in {
            "APP_ID": str(server.app_id),
            "PRIVATE_KEY": server.private_key_pem,
            "GITHUB_API_URL": server.url,
            "DOPPEL_HOME": str(tmp_path),
            "DOPPEL_EMBEDDING_MODEL": "none",
        }.items():
            monkeypatch.setenv(name, value)
        yield server


SETTINGS = """
min_confidence: 0.23
sources: {pull-requests: on}
siblings: [acme/lib]
known_issues: [1]
"""


def test_h6_the_settings_of_the_repository_say_where_to_look_and_when_to_speak(configured: Server) -> None:
    shown = run("acme/app#3").stdout
    assert listed(shown)["acme/lib#1"] and listed(shown)["#2"]
    assert "That takes 23% or more." in shown
    judged = r"Parser drops (?:all )?trailing comments +\n .*the same \(\d+%\) ·"
    assert re.search(rf"^ \d acme/lib#1 {judged} open · ", shown, re.MULTILINE)
    assert re.search(rf"^ \d #2 {judged} pull request, open · ", shown, re.MULTILINE)
    assert all(f"({source})" in shown for source in ("pull requests", "sibling repositories", "known issues"))
    # The owner's file holds where the repository has none.
    configured.sim.add_repository("acme/.github")
    configured.sim.write_file("acme/.github", CONFIG_PATH, "min_confidence: 0.99")
    assert "That takes 23% or more." in run("acme/app#3").stdout
    configured.sim.write_file("acme/app", CONFIG_PATH, None)
    assert "bot would have named none of them. That takes 99% or more." in run("acme/app#3").stdout


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("mode: shadow", "The bot posts nothing here unasked (mode: shadow).\n"),
        ("mode: off", "The bot posts nothing here unasked (mode: off).\n"),
        ("mode: shadow\nignore: {authors: [dan]}", "The bot posts nothing here unasked (ignore.authors: dan).\n"),
        ("ignore: {authors: [DAN]}", "The bot posts nothing here unasked (ignore.authors: dan).\n"),
        ("mode: comment", "Unasked, the bot would have named "),
    ],
)
def test_c6_where_the_settings_keep_the_bot_silent_it_is_said(configured: Server, settings: str, says: str) -> None:
    configured.sim.write_file("acme/app", CONFIG_PATH, f"{settings}\nsiblings: [acme/lib]")
    assert says in run("acme/app#3").stdout


def test_c1_what_the_bot_never_answers_is_said_to_be_left_alone(configured: Server) -> None:
    """A pull request, and what a bot has opened; in another state the issue would be looked at."""
    sim = configured.sim
    again = ("Trailing comments are dropped by the parser", "`CommentLost: line 12`")
    robot = sim.open_issue("acme/app", sim.who("helper[bot]", "Bot"), *again)
    sim.flush_index()
    for number, why in ((2, "it is a pull request"), (robot.number, "a bot opened it")):
        says = f"\nThe bot posts nothing here unasked ({why}).\n"
        assert says in run(f"acme/app#{number}").stdout
    sim.close_issue("acme/app", 3, "dan")
    assert "posts nothing here" not in run("acme/app#3").stdout


def test_c6_what_is_wrong_with_the_settings_does_not_count_and_is_told(configured: Server) -> None:
    configured.sim.write_file("acme/app", CONFIG_PATH, "min_confidance: 0.9\nsiblings: [acme/lib]")
    found = run("acme/app#3")
    assert f"That takes {MIN_CONFIDENCE:.0%} or more." in found.stdout and "acme/lib#1" in found.stdout
    assert "min_confidance" in found.stdout


def test_c4_what_people_decided_on_this_host_counts(configured: Server) -> None:
    sim = configured.sim
    sim.open_issue("acme/app", "eve", "The map is grey", "Since the update, again.")
    settings = host.load()
    store = open_store(settings)
    repo_id = reader(settings, build_github(settings), RepoRef("acme", "app")).repository(RepoRef("acme", "app")).id
    store.repositories.upsert(Repository(repo_id, RepoRef("acme", "app"), False, False), 1, 0.0)
    assert listed(run("acme/app#4").stdout)["#1"]
    store.muted.set(repo_id, 4, "eve", 0.0)
    assert "The bot posts nothing here unasked (/duplicates mute).\n" in run("acme/app#4").stdout
    store.verdicts.add(repo_id, 4, 1, UserVerdictKind.NOT, actor="eve", command_id=1, now=0.0)
    assert "#1" not in listed(run("acme/app#4").stdout)
    assert listed(run("acme/app#3").stdout)["acme/lib#1"]
    store.verdicts.add(repo_id, 3, 0, UserVerdictKind.NOT, actor="eve", command_id=2, now=0.0, issue="acme/lib#1")
    assert "acme/lib#1" not in listed(run("acme/app#3").stdout)
    store.close()


def test_d8_the_bots_own_issue_is_never_found_where_somebody_has_written_it_anew(configured: Server) -> None:
    """Its marker goes with the text; this host knows its number, too."""
    sim, repo = configured.sim, RepoRef("acme", "app")
    own = sim.open_issue("acme/app", sim.who("doppel[bot]", "Bot"), "The map is grey", "Since the update.")
    asked = sim.open_issue("acme/app", "eve", "The map is grey", "Since the update, again.")
    sim.flush_index()
    settings = host.load()
    with closing(open_store(settings)) as store, closing(build_github(settings)) as github:
        repo_id = reader(settings, github, repo).repository(repo).id
        store.repositories.upsert(Repository(repo_id, repo, False, False), 1, 0.0)
        assert f"#{own.number} " in run(f"acme/app#{asked.number}").stdout
        store.digest_issues.set(repo_id, own.number, 0.0)
        shown = run(f"acme/app#{asked.number}").stdout
    assert f"#{own.number} " not in shown and "#1 " in shown


def test_h4_a_filter_by_source_comes_before_the_cut_so_that_what_others_put_first_hides_nothing(
    configured: Server,
) -> None:
    """Else the one candidate is another source's, and "nothing was found" would be a false answer (F9)."""
    asked = "acme/app#3", "--limit", "1", "--json"
    (best,) = json.loads(run(*asked).stdout)["candidates"]
    (first,) = best["sources"]
    for source in {"siblings", "pull-requests", "known-issues"} - {first}:
        data = json.loads(run(*asked, "--source", source).stdout)
        (found,) = data["candidates"]
        assert data["outcome"] == "found" and source in found["sources"] and found != best
