"""From a workflow to the App and back: no second comment, no decision lost (X3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.conversation.marker import ADVICE
from tests.action.conftest import BOT, Project, listening
from tests.action.runner import Runner
from tests.e2e.world import World, start_world

FIRST, SECOND = "Sync never finishes behind the proxy", "Sync stops with ECONNRESET behind a proxy"
ERROR = "`read ECONNRESET at TLSWrap.onStreamRead` in the log, each time that it tries."

pytestmark = pytest.mark.whole


@pytest.fixture
def world(prepared_home: Path) -> Iterator[World]:
    with start_world(prepared_home) as running:
        yield running


def advices(world: World, repo: str, number: int) -> list[str]:
    return [one.body for one in world.sim.comments(repo, number) if ADVICE.begins(one.body)]


def test_x3_from_a_workflow_to_the_app_and_back(world: World, tmp_path: Path) -> None:
    repo = "acme-moves/app"
    world.sim.add_repository(repo)
    world.sim.set_permission(repo, "triager", "triage")
    project = Project(world.server, repo, Runner(world.server.url, repo, tmp_path / "runner"))
    with listening(world.server, repo, project.events):
        project.open(FIRST, ERROR)
        project.open(SECOND, ERROR, "second-reporter")
        project.open(f"{SECOND} at work", ERROR, "third-reporter")
        project.write(2, "/duplicates not #1")
        assert [len(advices(world, repo, number)) for number in (1, 2, 3)] == [0, 1, 1]
        # The file goes, the App comes.
        world.sim.install(repo)
        world.settle()
        world.sim.edit_issue(repo, 2, title=f"{SECOND} again")
        world.sim.edit_issue(repo, 3, title=f"{SECOND} at home")
        world.settle()
        world.sim.comment(repo, 3, "triager", "/duplicates not #1")
        world.settle()
        assert [len(advices(world, repo, number)) for number in (1, 2, 3)] == [0, 1, 1]
        assert not any("[#1](" in advices(world, repo, number)[0] for number in (2, 3))
        # And back, with nothing in the cache.
        world.sim.uninstall(repo)
        world.settle()
        project.runner.evict()
        project.events.clear()
        world.sim.edit_issue(repo, 3, title=SECOND)
        project.settle()
        assert [len(advices(world, repo, number)) for number in (1, 2, 3)] == [0, 1, 1]
        assert "[#1](" not in advices(world, repo, 3)[0], "the App was told that they differ"
        assert {one.author.login for one in world.sim.comments(repo, 3)} == {BOT, "triager", "doppel[bot]"}
