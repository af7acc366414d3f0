"""`doppel evaluate OWNER/REPO`: a repository's history is read from GitHub, kept, judged, and erased."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import UserError
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role, UserVerdictKind
from bot.platform.private_files import open_existing
from bot.platform.settings import load
from bot.quality.evaluation import history as history_file
from bot.quality.evaluation.history import HistoryFile, PastRecord, erase_history, repositories_with_history
from bot.quality.evaluation.runs import EvaluationRuns, Stage
from bot.simulator import Server, Simulator
from bot.storage import Store, open_store
from tests.calling import call, write_lines
from tests.evaluation.conftest import figures
from tests.evaluation.made_up import rows

pytestmark = pytest.mark.slow


@pytest.fixture
def online(server: Server, sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of somebody with a token, and the same issues on a simulated GitHub."""
    monkeypatch.chdir(tmp_path)
    sim.load_issues(rows(), "acme/history")
    sim.install("acme/history")
    home = tmp_path / "home"
    return {"GITHUB_API_URL": server.url, "GITHUB_TOKEN": sim.user_token("rita"), "DOPPEL_HOME": str(home)}


def test_a_repository_is_read_and_judged_as_its_exported_file(
    online: dict[str, str], file: Path, replayed: Path
) -> None:
    export, given = file.with_name("export.jsonl"), ("--from", "0", "--answers", replayed)
    found = figures("acme/history", *given, "--export", export, env=online)
    assert [json.loads(line) for line in export.read_text(encoding="utf-8").splitlines()] == rows()
    assert found | {"source": ""} == figures(export, *given) | {"source": ""}
    assert found["duplicates"] == 12


def test_the_result_is_kept_for_the_dashboard_where_this_host_knows_the_repository(
    online: dict[str, str], sim: Simulator, tmp_path: Path
) -> None:
    sim.load_issues(rows(16), "acme/young")
    sim.install("acme/young")
    given = ("--from", "0", "--answers", write_lines(tmp_path / "answers.jsonl", []))
    figures("acme/young", *given, env=online)
    settings = load({"DOPPEL_HOME": online["DOPPEL_HOME"]}, tmp_path / "no.env")
    assert not Path(settings.database_url.removeprefix("sqlite:///")).exists(), "nothing is made where nothing is"
    repo_id = sim.repository("acme/young").id
    with closing(open_store(settings)) as store:
        # Whatever it is called here: another repository may have the name by now.
        store.repositories.upsert(Repository(repo_id, RepoRef("acme", "once"), False), None, 1.0)
        store.repositories.upsert(Repository(repo_id + 1, RepoRef("acme", "young"), False), None, 1.0)
        runs = EvaluationRuns(store.engine)
        figures("acme/young", *given, env=online)
        assert runs.get(repo_id).result is None, "the bot would ask"
        found = figures("acme/young", "--from", "0", env=online)
        kept, other = runs.get(repo_id), runs.get(repo_id + 1)
    assert kept.run.stage is Stage.NONE and kept.result is not None and other.result is None
    assert json.loads(json.dumps(kept.result.to_json())) | {"source": "acme/young", "says": found["says"]} == found


def with_copies(
    online: dict[str, str], sim: Simulator, replayed: Path, tmp_path: Path
) -> tuple[Store, int, list[dict[str, Any]], Callable[[], dict[str, Any]]]:
    """A repository in which #41 says what #39 says, unmarked: its store, id and issues, and what is found there."""
    told = rows()
    told[40] |= {"title": told[38]["title"], "body": told[38]["body"]}
    sim.load_issues(told, "acme/copies")
    sim.install("acme/copies")
    store = open_store(load({"DOPPEL_HOME": online["DOPPEL_HOME"]}, tmp_path / "no.env"))
    repo_id = sim.repository("acme/copies").id
    store.repositories.upsert(Repository(repo_id, RepoRef("acme", "copies"), False), None, 1.0)
    answers = [json.loads(line) for line in replayed.read_text(encoding="utf-8").splitlines()]
    answers[40]["candidates"] = [{"id": 39, "confidence": 0.9}]
    given = write_lines(tmp_path / "answers.jsonl", answers)
    return store, repo_id, told, lambda: figures("acme/copies", "--from", "0", "--answers", given, env=online)


def test_c4_what_people_rejected_is_not_offered_as_unmarked(
    online: dict[str, str], sim: Simulator, replayed: Path, tmp_path: Path
) -> None:
    store, repo_id, _, found = with_copies(online, sim, replayed, tmp_path)
    before = found()
    pairs = [(one["id"], one["candidate"]) for one in before["unmarked"]]
    assert pairs[0] == (41, 39)
    store.verdicts.add(repo_id, 39, 41, UserVerdictKind.NOT, actor="tom", command_id=1, now=0.0)
    after = found()
    assert [(one["id"], one["candidate"]) for one in after["unmarked"]][: len(pairs) - 1] == pairs[1:]
    wrong = [(row["cut"], row["wrong"]) for row in after["thresholds"]]
    assert all(count == (1 if cut <= before["unmarked"][0]["confidence"] else 0) for cut, count in wrong)
    assert not any(row["wrong"] for row in before["thresholds"])
    store.close()


@pytest.mark.parametrize("same", [True, False])
def test_c7_votes_are_labels_as_marks_are(
    online: dict[str, str], sim: Simulator, replayed: Path, tmp_path: Path, same: bool
) -> None:
    """A triager says on the dashboard of an unmarked pair that it is the same, of a marked one that it is not."""
    store, repo_id, told, found = with_copies(online, sim, replayed, tmp_path)
    before = found()
    marked = next(row for row in told if "duplicate_of" in row)
    pair = (41, 39) if same else (marked["id"], marked["duplicate_of"])
    store.signals.put(repo_id, FeedbackSignal(pair[0], FeedbackKind.VOTE, "tara", pair[1], same, Role.TRIAGE, 1.0))
    after = found()
    assert after["duplicates"] == before["duplicates"] + (1 if same else -1)
    assert after["silent"] == before["silent"] - (1 if same else 0), "what is contradicted is in doubt"
    store.close()


@pytest.mark.parametrize("ours", [True, False])
def test_c6a_a_history_that_is_read_while_access_ends_does_not_stay(
    online: dict[str, str], sim: Simulator, replayed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    """What this host never had is read in the name of whoever asks, and stays theirs."""
    repo_id, add = sim.repository("acme/history").id, HistoryFile.add
    settings = load({"DOPPEL_HOME": online["DOPPEL_HOME"]}, tmp_path / "no.env")
    with closing(open_store(settings)) as store:
        if ours:
            store.repositories.upsert(Repository(repo_id, RepoRef("acme", "history"), False), 1, 1.0)

        def overtaken(self: HistoryFile, records: Iterable[PastRecord]) -> None:
            # As a worker of another machine does it, which cannot see this one's files.
            store.forget(repo_id)
            add(self, records)

        monkeypatch.setattr(HistoryFile, "add", overtaken)
        call("evaluate", "acme/history", "--from", "0", "--answers", replayed, env=online)
    assert (repo_id in repositories_with_history(settings.home)) is not ours


def test_c6a_a_history_that_is_erased_while_it_is_read_does_not_come_back(
    online: dict[str, str], sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo_id, add = sim.repository("acme/history").id, HistoryFile.add
    home = load({"DOPPEL_HOME": online["DOPPEL_HOME"]}, tmp_path / "no.env").home

    def overtaken(self: HistoryFile, records: Iterable[PastRecord]) -> None:
        erase_history(home, repo_id)
        add(self, records)

    monkeypatch.setattr(HistoryFile, "add", overtaken)
    result = call("evaluate", "acme/history", "--from", "0", env=online)
    assert (result.exit_code, list((home / "history").iterdir())) == (2, [])
    assert f"{repo_id}.jsonl: the file was erased while issues were read; run this again" in result.stderr


def test_a_full_disk_is_told_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = HistoryFile(tmp_path, 7, RepoRef("acme", "history"))
    monkeypatch.setattr(history_file, "open_existing", lambda _: open_existing(Path("/dev/full")))
    with pytest.raises(UserError, match="No space left on device; what was read before is kept"):
        kept.add([PastRecord(1, "", "", "ann", "", "", None, False, ())])


def test_a_repository_can_be_named_by_its_address(online: dict[str, str], replayed: Path) -> None:
    for address in ("https://github.com/acme/history", f"{online['GITHUB_API_URL']}/acme/history.git/"):
        assert figures(address, "--from", "0", "--answers", replayed, env=online)["duplicates"] == 12


def test_as_the_app_it_is_read_as_well(online: dict[str, str], server: Server, replayed: Path) -> None:
    app = {"APP_ID": str(server.app_id), "PRIVATE_KEY": server.private_key_pem, "GITHUB_TOKEN": ""}
    assert figures("acme/history", "--from", "0", "--answers", replayed, env=online | app)["duplicates"] == 12


def test_a_reading_that_breaks_off_says_how_it_goes_on(online: dict[str, str], sim: Simulator) -> None:
    sim.faults.add("/graphql", "secondary_limit", retry_after=600, times=None)
    result = call("evaluate", "acme/history", env=online)
    assert result.exit_code == 3
    assert "What was read is kept: run it again in 10 minutes to go on" in result.stderr
