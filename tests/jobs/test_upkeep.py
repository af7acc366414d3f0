"""The heartbeat of a worker, and cleaning up beside it."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
import sqlalchemy as sa

from bot.jobs import upkeep
from bot.jobs.queue import cleanup
from bot.jobs.queue.cleanup import KEEP_FINISHED, clean
from bot.jobs.recovery import executors
from tests.jobs.bench import Bench, event, new_number
from tests.waiting import stays, wait_until

pytestmark = pytest.mark.slow


def test_what_is_left_after_a_while_of_cleaning_is_cleaned_after_the_next_heartbeat(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a burst there can be so much that the others would take a worker that cleans up for dead."""
    monkeypatch.setattr(cleanup, "_BATCH", 2)
    issues = [new_number() for _ in range(5)]
    ids = [f"burst-{issue}" for issue in issues]
    for issue, delivery in zip(issues, ids, strict=True):
        bench.inbox.put(delivery, event(issue))
    wait_until(lambda: bench.statuses(*ids) == ["SUCCESS"] * 5)
    kept = [5]
    while not clean(bench.engine, time.time() + KEEP_FINISHED + 2, 0.0):
        kept.append(len(bench.statuses(*ids)))
    assert len(kept) > 2 and all(before - after <= 2 for before, after in pairwise(kept))
    assert bench.statuses(*ids) == []


def test_a_worker_beats_between_two_stretches_of_cleaning(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    unfinished = iter([False, False, False])

    def clean_up(engine: sa.Engine, now: float, patience: float) -> bool:
        # From here on it is only what is left that has it go on.
        monkeypatch.setattr(upkeep, "CLEAN_EVERY", 600.0)
        done.append("clean")
        return next(unfinished, True)

    def beat(engine: sa.Engine, executor: executors.Executor) -> None:
        done.append("beat")

    monkeypatch.setattr(executors, "beat", beat)
    monkeypatch.setattr(upkeep, "clean", clean_up)
    monkeypatch.setattr(upkeep, "CLEAN_EVERY", 0.0)
    monkeypatch.setattr(executors, "BEAT_EVERY", 0.05)
    wait_until(lambda: done.count("clean") > 3)
    # Nothing is left, and ten minutes are not over.
    stays(lambda: done.count("clean") == 4)
    monkeypatch.undo()
    first = done.index("clean")
    assert done[first : first + 6] == ["clean", "beat"] * 3


def test_cleaning_that_fails_is_not_tried_after_each_heartbeat(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can fail after half a minute of waiting for a lock, in which a worker does not beat."""
    tried: list[float] = []

    def clean_up(engine: sa.Engine, now: float, patience: float) -> bool:
        monkeypatch.setattr(upkeep, "CLEAN_EVERY", 600.0)
        tried.append(now)
        raise OSError("locked")

    monkeypatch.setattr(upkeep, "clean", clean_up)
    monkeypatch.setattr(upkeep, "CLEAN_EVERY", 0.0)
    monkeypatch.setattr(executors, "BEAT_EVERY", 0.05)
    wait_until(lambda: bool(tried))
    stays(lambda: len(tried) == 1)
    monkeypatch.undo()
