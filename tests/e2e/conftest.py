"""`doppel`: the whole bot, with a repository for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.demo.scenario import recent_issues
from bot.simulator.state.issues import Comment
from tests.e2e.harness import Doppel
from tests.e2e.reports import AGAIN, FIRST, comment_on
from tests.e2e.world import World, start_world

# What the inner loop keeps of these tests.
_IN_THE_INNER_LOOP = {"test_c2_comment.py", "test_defaults.py"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, which are half of the suite's time."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name not in _IN_THE_INNER_LOOP:
            item.add_marker(pytest.mark.whole)


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Ends before the next test of another folder: a process has one worker at a time, and others need theirs."""
    with start_world(tmp_path_factory.mktemp("doppel")) as world:
        yield world


@pytest.fixture
def doppel(world: World) -> Iterator[Doppel]:
    doppel = Doppel(world)
    yield doppel
    doppel.finish()


@pytest.fixture
def pair(doppel: Doppel) -> Doppel:
    """Issue #2 repeats #1, and the bot has said so."""
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    assert "Crash while exporting to PDF" in doppel.advice(2)
    return doppel


@pytest.fixture
def busy(world: World) -> Doppel:
    """The made-up project's 176 issues, and no settings file."""
    doppel = Doppel(world, settings="")
    # What is older is less likely meant, and tests before this one have moved the clock by years.
    doppel.sim.load_rows(recent_issues(doppel.sim.now()), doppel.repo)
    doppel.settle()
    return doppel


@pytest.fixture
def commented(doppel: Doppel) -> Comment:
    """The comment under #2, which shows #1."""
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    doppel.said(2)
    return comment_on(doppel, 2)
