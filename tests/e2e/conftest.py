"""`doppel`: the whole bot, with a repository for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.harness import Doppel, World, start_world


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
