"""Who keeps whom waiting: background work, replays, and an installation that sends much."""

from __future__ import annotations

import threading

import pytest

from bot.events import IndexEvent
from bot.jobs import Job
from bot.model import RepoRef, Repository
from tests.jobs.bench import Bench, event, replay
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.slow


class Held:
    """Work that lasts until it is let go; `most` is how many pieces of it were at work at once."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.at_work = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, job: Job) -> None:
        with self._lock:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
        # Longer than anything is waited for meanwhile.
        self.go.wait(2 * LONGEST)
        with self._lock:
            self.at_work -= 1


def test_background_work_is_done_one_piece_at_a_time_and_keeps_no_delivery_waiting(bench: Bench, number: int) -> None:
    held = Held()
    steps = [
        IndexEvent(1, Repository(repo_id, RepoRef("acme", "app"), private=False), "chain")
        for repo_id in range(7_000, 7_012)
    ]
    for step in steps:
        bench.reactions[step.delivery_id] = held
        assert bench.inbox.put(step.delivery_id, step)
        assert not bench.inbox.put(step.delivery_id, step)
    wait_until(lambda: held.at_work > 0)
    bench.inbox.put("beside", event(number))
    wait_until(lambda: len(bench.calls("beside")) == 1)
    held.go.set()
    wait_until(lambda: len(bench.calls(*(step.delivery_id for step in steps))) == len(steps))
    assert held.most == 1


def test_a_replay_keeps_no_index_waiting_but_another_replay(bench: Bench) -> None:
    held = Held()
    replays = [replay(repo_id) for repo_id in (7_200, 7_201)]
    for one in replays:
        bench.reactions[one.delivery_id] = held
        bench.inbox.put(one.delivery_id, one)
    wait_until(lambda: held.at_work > 0)
    steps = [IndexEvent(1, one.repository, "chain") for one in replays]
    for step in steps:
        bench.inbox.put(step.delivery_id, step)
    try:
        wait_until(lambda: len(bench.calls(*(step.delivery_id for step in steps))) == 2)
    finally:
        held.go.set()
    wait_until(lambda: len(bench.calls(*(one.delivery_id for one in replays))) == 2)
    assert held.most == 1


@pytest.mark.parametrize("suspect", ["the background work", "a delivery"])
def test_background_work_keeps_no_delivery_waiting_after_a_worker_died(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, suspect: str, number: int
) -> None:
    """It can last for hours, and what a dead worker had claimed is tried alone."""
    monkeypatch.setattr("bot.jobs.recovery.trials.SETTLED", 0.1)
    held = Held()
    step = IndexEvent(1, Repository(7_100 + number, RepoRef("acme", "app"), private=False), "chain")
    bench.reactions[step.delivery_id] = held
    died = step.delivery_id if suspect == "the background work" else f"died-{number}"
    bench.inbox.put(step.delivery_id, step, delay_seconds=60)
    bench.inbox.put(f"died-{number}", event(number), delay_seconds=60)
    bench.claimed(died, 1)
    bench.due(step.delivery_id, f"died-{number}")
    wait_until(lambda: held.at_work > 0)
    bench.inbox.put(f"beside-{number}", event(-number))
    try:
        wait_until(lambda: len(bench.calls(f"died-{number}", f"beside-{number}")) == 2)
        assert held.at_work == 1
    finally:
        held.go.set()
    wait_until(lambda: bench.statuses(step.delivery_id) == ["SUCCESS"])


def test_an_installation_whose_jobs_all_wait_keeps_no_other_waiting(bench: Bench) -> None:
    """The short form of `python -m bench.fairness`: 200 events of one of them, of which none ends, 10 of another."""
    held = Held()
    noisy = [f"noisy-{n}" for n in range(200)]
    for n, delivery in enumerate(noisy):
        bench.reactions[delivery] = held
        bench.inbox.put(delivery, event(n, repo_id=81, installation=81))
    wait_until(lambda: held.most == 4)
    quiet = [f"quiet-{n}" for n in range(10)]
    for n, delivery in enumerate(quiet):
        bench.inbox.put(delivery, event(n, repo_id=82, installation=82))
    wait_until(lambda: len(bench.calls(*quiet)) == 10)
    assert (held.at_work, held.most) == (4, 4), "it has its own places all the time, and no more"
    bench.inbox.erase(81)
    held.go.set()
    wait_until(lambda: held.at_work == 0)
