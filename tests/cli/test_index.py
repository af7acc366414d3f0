"""`doppel index`: what it shows of each repository."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.app.cli.index import index
from bot.domain.entities import RepoRef, Repository
from bot.platform.settings import load
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.storage import Store, open_store
from bot.storage.repositories import Progress


@pytest.fixture
def store(prepared_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("DOPPEL_HOME", str(prepared_home))
    monkeypatch.setenv("DOPPEL_EMBEDDING_MODEL", "none")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    store = open_store(load())
    yield store
    store.close()


def add(store: Store, repo_id: int, name: str, progress: Progress | None, issues: int) -> None:
    store.repositories.upsert(Repository(repo_id, RepoRef("acme", name), False), 1, 0.0)
    Index(store.engine, TextAnalyser()).put(repo_id, [IndexedIssue(n, f"issue {n}") for n in range(1, issues + 1)])
    if progress is not None:
        store.backfills.set(repo_id, progress)


def test_each_repository_has_a_row(store: Store) -> None:
    add(store, 1, "app", Progress(expected=5, done=True), 7)
    add(store, 2, "half", Progress(expected=1_000, problem=""), 3)
    add(store, 3, "new", None, 0)
    add(store, 4, "off", Progress(problem="its settings say [bold]mode: off"), 0)
    shown = CliRunner().invoke(index).output
    assert " ".join(shown.split()) == (
        "acme/app embedding issues 7 vectors none texts 0 "
        "acme/half reading issues 3 of 1,000 vectors none texts 0 "
        "acme/new waiting issues 0 vectors none texts 0 "
        "acme/off stopped issues 0 vectors none texts 0 its settings say [bold]mode: off"
    )


def test_one_repository_as_json(store: Store) -> None:
    add(store, 1, "app", Progress(expected=9, seen=2), 2)
    add(store, 2, "other", None, 0)
    assert json.loads(CliRunner().invoke(index, ["ACME/app", "--json"]).output) == [
        {
            "repository": "acme/app",
            "state": "reading",
            "issues": 2,
            "expected": 9,
            "vectors": None,
            "texts": 0,
            "problem": "",
        }
    ]


def test_watching_ends_when_everything_is_ready(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOPPEL_TEXT_MODEL", "off")
    add(store, 1, "app", Progress(done=True), 2)
    shown = CliRunner().invoke(index, ["--watch"])
    assert shown.exit_code == 0
    assert "acme/app" in shown.output
    assert CliRunner().invoke(index, ["--watch", "--json"]).exit_code == 2


def test_nothing_stored_is_said(store: Store) -> None:
    assert (
        CliRunner().invoke(index).output
        == "The store holds no repository: install the App on one, and it is indexed.\n"
    )
