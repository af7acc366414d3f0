"""Ports that tests give to processes are theirs for the whole run."""

from __future__ import annotations

import pytest

from tests.calling import free_port


def test_a_port_is_drawn_once_and_is_none_that_the_system_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for process in ("gw0", "gw1", "gw7"):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", process)
        drawn += [free_port() for _ in range(100)]
    assert len(set(drawn)) == 300
    # Where Linux begins; others begin later.
    assert max(drawn) < 32_768
