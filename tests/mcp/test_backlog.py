"""`scan_backlog` (D8), called by the SDK's own client, over an index of a simulated GitHub's issues."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa
from mcp.client import Client

from bot.domain.entities import RepoRef, Repository
from bot.domain.likelihood import likelihood
from bot.platform.settings import Settings
from bot.simulator import Simulator
from bot.storage import open_store
from bot.storage.repositories import Progress
from bot.storage.schema import scan_answers
from tests.mcp.conftest import answer, ask, error, fill_index, session

pytestmark = pytest.mark.slow

TITLES = {1: "Table rendering panics with index out of range", 3: "Panic: index out of range when rendering a table"}


@pytest.fixture
def filled(sim: Simulator, settings: Settings) -> Settings:
    fill_index(sim, settings)
    return settings


def numbers(found: dict[str, Any]) -> list[list[int]]:
    return [[one["number"] for one in (group["original"], *group["members"])] for group in found["groups"]]


def test_d8_groups_with_original_members_and_sums(server: Any, sim: Simulator, settings: Settings) -> None:
    for number, login, reaction in ((1, "bob", "+1"), (3, "bob", "+1"), (3, "erin", "-1")):
        sim.react(sim.issue("acme/app", number), login, reaction)
    sim.comment("acme/app", 3, "erin", "Here too.")
    fill_index(sim, settings)
    found = answer(ask(server, "scan_backlog", min_confidence=0.5))
    assert (found["repository"], found["issues"]) == ("acme/app", 3)
    assert (found["group_count"], found["closable"]) == (1, 1)
    (group,) = found["groups"]
    (member,) = group["members"]
    assert (group["original"]["number"], group["original"]["title"]) == (1, TITLES[1])
    assert (member["number"], member["title"], member["state"]) == (3, TITLES[3], "open")
    assert member["confidence"] >= 0.5
    assert member["likelihood"] == likelihood(member["confidence"])
    assert member["reasons"]
    assert (group["thumbs_up"], group["thumbs_down"], group["comments"], group["closable"]) == (2, 1, 1, 1)
    assert (found["cached"], found["note"]) == (False, "")


def test_limit_says_how_many_groups_are_shown(server: Any, sim: Simulator, settings: Settings) -> None:
    for login in ("erin", "frank"):
        sim.open_issue("acme/app", login, "Export to CSV drops the header row", "ERR_HEADER_LOST in export_csv")
    fill_index(sim, settings)
    found = answer(ask(server, "scan_backlog", min_confidence=0.5))
    assert sorted(numbers(found)) == [[1, 3], [5, 6]]
    first = answer(ask(server, "scan_backlog", min_confidence=0.5, limit=1))
    assert first["groups"] == found["groups"][:1]
    assert (first["group_count"], first["closable"]) == (2, 2)


def test_progress_is_told_and_what_has_been_compared_is_not_compared_again(server: Any, filled: Settings) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    # Each time in a session of its own, so that nothing is answered from memory.
    for _ in range(2):
        with session(Client(server)) as client:
            answer(client.call_tool("scan_backlog", {}, progress_callback=hear))
        assert told == [(3, 3, "3 of 3 issues compared")]


def test_github_is_asked_only_whether_the_repository_may_be_read_and_for_the_reactions_of_today(
    server: Any, sim: Simulator, filled: Settings
) -> None:
    for person in ("gus", "hal"):
        sim.react(sim.issue("acme/app", 1), person, "+1")
    writes, searches = sim.faults.add("[!G]* /repos*", times=None), sim.faults.add("GET /repos/acme/app/*", times=None)
    found = answer(ask(server, "scan_backlog", include_closed=True))
    assert (writes.hits, searches.hits) == (0, 0)
    assert found["groups"][0]["thumbs_up"] == 2


def test_without_an_index_it_says_how_to_fill_it(server: Any, sim: Simulator, settings: Settings) -> None:
    said = error(ask(server, "scan_backlog"))
    assert "acme/app: this host has no complete index of it" in said
    assert "doppel scan acme/app" in said
    assert not (settings.home / "doppel.db").exists()
    fill_index(sim, settings, done=False)
    assert "doppel scan acme/app" in error(ask(server, "scan_backlog"))


def test_the_index_of_a_repository_that_bore_the_name_before_is_not_taken(
    server: Any, sim: Simulator, settings: Settings
) -> None:
    with closing(open_store(settings)) as store:
        store.repositories.upsert(Repository(987, RepoRef("acme", "app"), private=True), 1, 1.0)
        store.backfills.set(987, Progress(done=True))
    assert "no complete index" in error(ask(server, "scan_backlog"))


def test_the_index_is_shown_to_nobody_who_cannot_read_the_repository(
    server: Any, sim: Simulator, filled: Settings
) -> None:
    sim.faults.add("GET /repos/acme/app", 404)
    said = error(ask(server, "scan_backlog"))
    assert "404" in said
    assert TITLES[1] not in said
    with closing(open_store(filled)) as store, store.engine.connect() as connection:
        assert connection.execute(sa.select(scan_answers)).all() == []
