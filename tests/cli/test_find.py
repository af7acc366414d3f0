"""`doppel find` against the simulator: what it prints, what it marks, and what it says where it cannot look."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.wiring.clients import build_github, reader
from bot.app.wiring.indexes import build_index
from bot.conversation.config.schema import MIN_CONFIDENCE
from bot.domain.entities import RepoRef, Repository
from bot.platform import settings as host
from bot.search.index import IndexedIssue
from bot.simulator import Server, start_simulator
from bot.simulator.language_model import start_model
from bot.storage import open_store
from bot.storage.repositories import Progress
from tests.calling import call
from tests.cli.finding import listed, run
from tests.judge.models import saying

pytestmark = pytest.mark.slow

NAMED = f"That takes {MIN_CONFIDENCE:.0%} or more."

WORDS = (
    "export",
    "photo",
    "album",
    "login",
    "server",
    "backup",
    "upload",
    "video",
    "timeline",
    "map",
    "search",
    "share",
)

GONE = "After the nightly synchronisation it is empty. It says `SyncError: token 12 has expired (code E4711)`."


@pytest.fixture(scope="module")
def github() -> Iterator[Server]:
    """`acme/app` with many unlike issues and two reports of one thing (3 and 40); 41 shares a title's words.

    43 reports in other words what was closed as 42.
    """
    with start_simulator() as server:
        sim = server.sim
        sim.add_repository("acme/app")
        sim.install("acme/app")
        for number in range(1, 40):
            word, other = WORDS[number % 12], WORDS[(number * 5 + 1) % 12]
            if number == 3:
                sim.open_issue("acme/app", "ann", "Crash while exporting", "It says `ExportError: disk 7 is gone`.")
            else:
                sim.open_issue(
                    "acme/app", f"user-{number}", f"The {word} of the {other} looks odd", f"{word} number {number}"
                )
        sim.open_issue("acme/app", "bob", "Crash while exporting", "It says `ExportError: disk 7 is gone`.")
        sim.open_issue("acme/app", "cy", "Crash while exporting an album of videos", "No idea why.")
        sim.open_issue("acme/app", "dan", "Photos vanish in the night", GONE)
        sim.close_issue("acme/app", 42, "dan", "completed")
        sim.open_issue("acme/app", "eve", "Photos of my holiday went missing while everybody slept", GONE)
        sim.set_permissions("acme", {"issues": "read", "metadata": "read", "organization_projects": "read"})
        project = sim.add_project("acme", "Roadmap", {"Stage": ["Later"]})
        sim.set_status(project, "acme/app", 3, "Later", "Stage")
        sim.flush_index()
        yield server


@pytest.fixture(autouse=True)
def environment(github: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    github.sim.clock.advance(120)
    for name, value in {
        "APP_ID": str(github.app_id),
        "PRIVATE_KEY": github.private_key_pem,
        "GITHUB_API_URL": github.url,
    }.items():
        monkeypatch.setenv(name, value)


def test_p6_the_best_five_are_listed_each_with_its_word_and_what_the_bot_would_name_unasked() -> None:
    shown = run("acme/app#40").stdout
    found = listed(shown)
    assert len(found) == 5 and next(iter(found.items())) == ("#3", True)
    assert re.search(
        r"^ 1 #3 Crash while exporting +\n +• (Very likely|Likely|Possibly) the same \(\d+%\) · open · ", shown, re.M
    )
    assert len(re.findall(r"the same \(\d+%\) · ", shown)) == 5
    assert f"\nUnasked, the bot would have named #3. {NAMED}" in shown
    # 41 is later than 40: it is no earlier report.
    assert "#41 " not in shown
    weak = run("acme/app#5").stdout
    assert {*listed(weak)} <= {"#1", "#2", "#3", "#4"} and not any(listed(weak).values())
    assert f"\nUnasked, the bot would have named none of them. {NAMED}" in weak


def test_a_number_alone_is_of_the_hosts_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """What begins with # is a comment to a shell."""
    monkeypatch.setenv("DOPPEL_REPOSITORY", "acme/app")
    assert listed(run("40").stdout) == listed(run("#40").stdout) == listed(run("acme/app#40").stdout) != {}


def test_a_token_that_is_wrong_is_something_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("APP_ID", "PRIVATE_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("GITHUB_TOKEN", "wrong")
    ended = call("find", "acme/app#40")
    assert ended.exit_code == 2
    assert "GITHUB_TOKEN is wrong or has expired" in ended.stderr


def test_f9_an_outage_is_not_called_the_bots_verdict(github: Server) -> None:
    github.sim.faults.add("/search/issues", 403, times=None)
    try:
        result = run("acme/app#40")
        filtered = run("acme/app#40", "--source", "discussions", "--json")
    finally:
        github.sim.faults.clear()
    assert result.exit_code == 3
    # Nor is it that of a source that was not asked.
    assert (filtered.exit_code, json.loads(filtered.stdout)["outcome"]) == (3, "inconclusive")
    assert "This could not be checked fully. Nothing was found, but that says little" in result.stdout
    assert "Unasked" not in result.stdout
    assert "github-search: search issues: 403" in result.stdout


def test_f9_a_source_that_this_host_has_no_index_for_was_not_asked(github: Server) -> None:
    shown = run("acme/app#40", "--source", "full-text")
    assert shown.exit_code == 3
    assert "Nothing was asked: full-text cannot answer here.\n" in shown.stdout
    told = json.loads(run("acme/app#40", "--source", "full-text", "--json").stdout)
    assert (told["outcome"], told["not_asked"], told["candidates"]) == ("inconclusive", ["full-text"], [])


def test_p6_it_looks_where_the_bot_looks() -> None:
    """Closed issues count, unless the repository or who asks says otherwise."""
    shown = run("acme/app#43").stdout
    assert listed(shown)["#42"]
    assert "\nAsked: GitHub's search; this host has no complete index of acme/app.\n" in shown
    few = run("acme/app#43", "--no-include-closed").stdout
    assert "#42" not in listed(few)
    assert f"\nUnasked, the bot would have named #42. {NAMED}" in few, "it does not ask what was asked here"


@pytest.mark.parametrize("host", ["https://github.com", "GITHUB_API_URL"])
def test_an_address_is_taken_as_the_commands_take_it(github: Server, host: str) -> None:
    address = f"{github.url if host == 'GITHUB_API_URL' else host}/acme/app/issues/40#issuecomment-1"
    assert run(address).stdout.startswith("acme/app#40 Crash while exporting\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["acme/nope#1"], "acme/nope: 404 Not Found: it is not there, or cannot be read"),
        (["acme/app#999"], "acme/app#999: 404 Not Found: it is not there, or cannot be read"),
        (["acme/app"], "issue: 'acme/app' is not of the form OWNER/REPO#NUMBER"),
        (["acme/app#" + "9" * 5_000], "is not of the form OWNER/REPO#NUMBER"),
        (["acme/..#1"], "repository: 'acme/..' is not of the form OWNER/REPO"),
        (["#1"], "write OWNER/REPO#1"),
        (["https://ghe.example.org/acme/app/issues/40"], "is not of the form OWNER/REPO#NUMBER"),
        (["https://github.com/acme/app"], "'https://github.com/acme/app' is not of the form "),
        (["acme/app#40", "--threshold", "2"], "'--threshold': 2.0 is not in the range 0<=x<=1"),
        (["acme/app#40", "--relevance", "magic"], "'magic' is not one of 'title', "),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], says: str) -> None:
    ended = call("find", *arguments)
    assert ended.exit_code == 2
    assert says in ended.stderr


def test_where_an_issue_went_is_said(github: Server) -> None:
    github.sim.add_repository("acme/lib")
    github.sim.install("acme/lib")
    moved = github.sim.open_issue("acme/app", "ann", "Belongs elsewhere", "")
    github.sim.transfer_issue("acme/app", moved.number, "acme/lib")
    ended = call("find", f"acme/app#{moved.number}")
    assert ended.exit_code == 2
    assert f"acme/app#{moved.number}: 301 it was transferred to acme/lib#1" in ended.stderr


def test_this_hosts_own_index_is_asked_where_it_is_complete(
    github: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path))
    monkeypatch.setenv("DOPPEL_EMBEDDING_MODEL", "none")
    assert "(GitHub's search)" in run("acme/app#40").stdout
    assert list(tmp_path.iterdir()) == [], "to find creates no database"
    settings = host.load()
    store = open_store(settings)
    client = reader(settings, build_github(settings), RepoRef("acme", "app"))
    repository = client.repository(RepoRef("acme", "app"))
    store.repositories.upsert(Repository(repository.id, repository.ref, False, False), 1, 0.0)
    issues = client.recent_issues(repository.ref, 100)
    build_index(settings, store).put(repository.id, [IndexedIssue.of(issue) for issue in issues])
    assert "full-text index" not in run("acme/app#40").stdout
    store.backfills.set(repository.id, Progress(done=True))
    store.close()
    shown = run("acme/app#40").stdout
    assert "(the full-text index)" in shown
    assert "GitHub's search" not in shown
    assert "#3 " in shown
    assert "Asked: this host's index of acme/app.\n" in shown
    # The index holds what is closed, too.
    assert listed(run("acme/app#43").stdout)["#42"]
    data = json.loads(run("acme/app#40", "--json", "--source", "full-text").stdout)
    assert [run["source"] for run in data["queries"]] == ["full-text"]
    assert all("full-text" in one["sources"] for one in data["candidates"])


def test_h4_beside_a_filter_by_source_what_that_source_found_is_counted() -> None:
    """A search has the issue itself among its hits, which is no result."""
    asked = "acme/app#40", "--source", "github-hybrid"
    shown = run(*asked).stdout
    assert "– 4 results (GitHub's semantic search)" in shown
    counts = json.loads(run(*asked, "--json").stdout)["counts"]
    assert counts == {"total": 3, "unique": 3, "duplicates": 0, "github-hybrid": 3}
    everything = json.loads(run("acme/app#40", "--json").stdout)["counts"]
    assert everything["github-hybrid"] == 3 and everything["total"] > everything["unique"] > 3


def test_j_the_judge_reads_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    ended = call("find", "acme/app#40", "--judge")
    assert "judge: no model is named here" in ended.stderr
    with start_model(saying("same", "disk 7 is gone")) as model:
        monkeypatch.setenv("DOPPEL_JUDGE_URL", model.url)
        monkeypatch.setenv("DOPPEL_JUDGE_MODEL", "reader-1")
        run("acme/app#40")
        assert model.heard == []
        found = json.loads(run("acme/app#40", "--judge", "--json").stdout)["candidates"]
        assert len(model.heard) == 1, "what the bot would name is no question more"
    assert (found[0]["number"], found[0]["verdict"]) == (3, "same")
    assert found[0]["reasons"][0] == "Same cause, as a language model read both: “disk 7 is gone”"
