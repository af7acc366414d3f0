"""C6a: `doppel export` shows and `doppel forget` erases everything that is stored of a repository, on both kinds."""

from __future__ import annotations

import base64
import dataclasses
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from bot.app.cli import cli
from bot.deliveries.events import Event
from bot.deliveries.inbox import Inbox, queued_content
from bot.domain.entities import Actor, RepoRef, Repository
from bot.domain.errors import UserError
from bot.platform.settings import Settings
from bot.quality.evaluation.history import HistoryFile, PastRecord, repositories_with_history
from bot.storage import Store, open_store
from bot.storage.schema import metadata
from tests.calling import call

pytestmark = pytest.mark.slow

MINE, OTHER = 5, 55
APP = RepoRef("Acme", "App")


@pytest.fixture
def settings(store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", store_url)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path))
    # Nobody answers there: neither command may ask GitHub.
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    return Settings(home=tmp_path, database_url=store_url)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    store = open_store(settings)
    for repo_id, ref in ((MINE, APP), (OTHER, RepoRef("acme", "other"))):
        with store.engine.begin() as connection:
            for table in metadata.sorted_tables:
                if "repo_id" in table.c:
                    connection.execute(sa.insert(table).values(_row(table, repo_id)))
        store.repositories.upsert(Repository(repo_id, ref, private=True), 7, 1_000.0)
    inbox = Inbox(settings)
    for repo_id in (MINE, OTHER):
        for event in events_of(repo_id):
            assert inbox.put(f"{event.name}-{repo_id}", event)
    inbox.close()
    yield store
    store.close()


def _row(table: sa.Table, repo_id: int) -> dict[str, Any]:
    """A row with some value in each column, whatever columns there are."""
    values = {sa.Text: "text ü", sa.LargeBinary: b"\0\xff", sa.Boolean: True}
    row = {column.name: values.get(type(column.type), 1) for column in table.columns}
    return (
        row | {"repo_id": repo_id} | ({"id": repo_id} if table.name in ("verdicts", "decisions", "judge_calls") else {})
    )


def events_of(repo_id: int) -> list[Any]:
    """An event of each kind that is about a repository, made from the kind's fields, so that none can be left out."""
    values = {
        "str": "text",
        "int": 3,
        "bool": True,
        "int | None": 3,
        "Actor": Actor("ann"),
        "Repository": Repository(repo_id, APP, private=True),
    }
    return [
        kind(**{field.name: values[str(field.type)] for field in dataclasses.fields(kind) if _is_needed(field)})
        for kind in get_args(Event)
        if any(field.name == "repository" for field in dataclasses.fields(kind))
    ]


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def rows(store: Store, repo_id: int) -> dict[str, int]:
    """How many rows there are of a repository in each table that can hold any."""
    with store.engine.connect() as connection:
        return {
            table.name: connection.execute(
                sa.select(sa.func.count()).select_from(table).where(table.c.repo_id == repo_id)
            ).scalar_one()
            for table in metadata.sorted_tables
            if "repo_id" in table.c
        }


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(arguments), input=stdin, catch_exceptions=False)


def test_c6a_export_names_every_table_and_the_queue(store: Store) -> None:
    exported = json.loads(run("export", "acme/APP").stdout)
    assert (exported["repository"], exported["id"]) == ("Acme/App", MINE)
    tables = {table.name for table in metadata.sorted_tables if "repo_id" in table.c}
    assert len(tables) > 10 and any(name.startswith("index") for name in tables)
    assert {name: len(found) for name, found in exported["tables"].items()} == dict.fromkeys(tables, 1)
    for found in exported["tables"].values():
        assert found[0]["repo_id"] == MINE
    assert base64.b64decode(exported["tables"]["indexed_vectors"][0]["vectors"]) == b"\0\xff"
    assert exported["tables"]["texts"][0]["text"] == "text ü"
    ids = [f"{event.name}-{MINE}" for event in events_of(MINE)]
    # Several arrive within one of the queue's milliseconds; those are in the order of their ids.
    assert exported["queue"] == sorted(exported["queue"], key=lambda job: (job["arrived"], job["id"]))
    jobs = {job["id"]: job["content"] for job in exported["queue"]}
    assert sorted(jobs) == sorted(ids) and len(exported["queue"]) == len(ids)
    assert '"text"' in json.dumps(jobs[ids[1]]).replace("\\", "")


def test_c6a_export_writes_a_file_that_only_its_owner_reads(store: Store, tmp_path: Path) -> None:
    out = tmp_path / "export.json"
    assert run("export", str(OTHER), "--out", str(out)).exit_code == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert json.loads(out.read_text(encoding="utf-8"))["repository"] == "acme/other"
    assert [path.name for path in tmp_path.iterdir() if "export" in path.name] == ["export.json"]


def test_c6a_export_follows_no_link(store: Store, tmp_path: Path) -> None:
    """One that was planted would have had another file of the host's overwritten."""
    link, file = tmp_path / "link", tmp_path / "mine"
    link.symlink_to(file)
    for before in (None, "what I need"):
        if before:
            file.write_text(before)
        with pytest.raises(UserError, match="this is a link, which is not followed"):
            run("export", str(OTHER), "--out", str(link))
        assert link.is_symlink()
        assert (file.read_text() if file.exists() else None) == before


def test_c6a_forget_leaves_no_row_and_no_content_and_nothing_of_others_goes(store: Store, settings: Settings) -> None:
    before = rows(store, OTHER)
    assert all(rows(store, MINE).values())
    history = settings.home / "history" / f"{MINE}.jsonl"
    history.parent.mkdir()
    history.write_text("{}\n")
    done = run("forget", "acme/app", "--yes", "--json")
    assert not history.exists()
    assert json.loads(done.stdout) == {"repository": "Acme/App", "id": MINE, "rows": len(before)}
    assert set(rows(store, MINE).values()) == {0}
    assert queued_content(settings, MINE) == []
    assert rows(store, OTHER) == before
    assert len(queued_content(settings, OTHER)) == len(events_of(OTHER))


def test_c6a_forget_erases_one_that_was_only_evaluated(store: Store, settings: Settings) -> None:
    for repo_id, name in ((77, "acme/Tried"), (78, "acme/another")):
        HistoryFile(settings.home, repo_id, RepoRef.parse(name))
    assert run("forget", "acme/tried", "--yes").exit_code == 0
    assert repositories_with_history(settings.home) == {78: "acme/another"}
    (settings.home / "history" / "78.jsonl").write_text("cut o")
    assert run("forget", "78", "--yes").exit_code == 0
    assert repositories_with_history(settings.home) == {}


def test_c6a_export_has_the_history_that_was_read_for_an_evaluation(store: Store, settings: Settings) -> None:
    assert json.loads(run("export", "acme/app").stdout)["history"] == []
    history = HistoryFile(settings.home, 77, RepoRef("acme", "Tried"))
    day = "2024-01-01T00:00:00Z"
    record = PastRecord(3, "Crash ü", "It stops.", "ann", day, day, None, False, ())
    history.add([record])
    with (settings.home / "history" / "77.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"issue": {"numb')
    exported = json.loads(run("export", "acme/tried").stdout)
    assert [PastRecord.from_json(issue) for issue in exported["history"]] == [record]
    assert set(map(len, exported["tables"].values())) == {0}


def test_c6a_forget_asks_first(store: Store) -> None:
    for answer in ("n\n", ""):
        asked = run("forget", "acme/app", stdin=answer)
        assert asked.exit_code == 1 and "Erase everything that is stored about Acme/App for good?" in asked.stderr
        assert all(rows(store, MINE).values())
    assert run("forget", "acme/app", stdin="y\n").exit_code == 0
    assert set(rows(store, MINE).values()) == {0}


def test_a_name_that_is_not_stored_is_said_with_the_nearest(store: Store) -> None:
    for command in (["export", "acme/othr"], ["forget", "acme/othr", "--yes"]):
        ended = call(*command)
        assert ended.exit_code == 2
        assert "nothing is stored about acme/othr; there is acme/other" in ended.stderr


def test_a_name_that_two_bear_is_not_guessed(store: Store) -> None:
    store.repositories.upsert(Repository(OTHER, APP, private=True), 7, 2_000.0)
    ended = call("forget", "acme/app", "--yes")
    assert ended.exit_code == 2
    assert f"give GitHub's id of one of them: {MINE}, {OTHER}" in ended.stderr
    assert run("forget", str(OTHER), "--yes").exit_code == 0
    assert all(rows(store, MINE).values())


@pytest.mark.parametrize("digits", [19, 5_000])
@pytest.mark.parametrize("command", [["export"], ["forget", "--yes"], ["digest"], ["calibrate"], ["index"]])
def test_an_id_that_no_database_can_hold_is_no_repositorys(settings: Settings, command: list[str], digits: int) -> None:
    ended = call(*command, "9" * digits)
    assert ended.exit_code == 2
    assert "is not of the form OWNER/REPO" in ended.stderr
