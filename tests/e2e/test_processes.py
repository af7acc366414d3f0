"""Web and worker as processes: killed in the middle of work they lose and double nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.hosting import TOPICS, Host, hosted

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("host")


@pytest.fixture(scope="module")
def host(home: Path) -> Iterator[Host]:
    """One for all tests, which each leave it running and at rest."""
    with hosted(home) as host:
        yield host


def test_nothing_is_lost_or_doubled_when_web_and_worker_are_killed(host: Host) -> None:
    numbers = []
    for round_, topic in enumerate(TOPICS[:4]):
        numbers.append(host.report(topic))
        host.sim.comment("acme/app", numbers[-1], "bob", "/duplicates help")
        # At another moment of the work each time.
        time.sleep(0.03 * round_)
        host.kill("worker" if round_ % 2 == 0 else "web")
    host.finish()
    for number in numbers:
        kinds = [body.partition(" v1")[0] for body in host.said(number)]
        assert sorted(kinds) == ["<!-- doppel:advice", "<!-- doppel:reply"], f"#{number}"


def test_a_worker_killed_between_posting_and_noting_it_posts_no_second_comment(host: Host) -> None:
    fault = host.sim.faults.add("POST /repos/*/comments", "timeout_after_write", seconds=8)
    number = host.report(TOPICS[0])
    host.wait("posting", lambda: fault.hits == 1 and len(host.said(number)) == 1)
    host.kill("worker")
    host.finish()
    assert len(host.said(number)) == 1
