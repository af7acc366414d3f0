"""What is kept of evaluations: one run at a time, once a day, and a result that reads as it was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.settings import Settings
from bot.quality.evaluation.figures import Evaluation, evaluate
from bot.quality.evaluation.measures import JudgedArrival
from bot.quality.evaluation.runs import DAY, LOST, SOON, EvaluationRun, EvaluationRuns, Stage, seconds_until_allowed
from bot.storage import Store, open_store
from bot.storage.schema import evaluations

NOW = 1_800_000_000.0


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    store = open_store(Settings(home=Path("unused"), database_url=store_url))
    yield store
    store.close()


def result(alarms: int = 3) -> Evaluation:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    judged = [JudgedArrival(n, start + timedelta(hours=n), frozenset({0}), ((0, n / 31),)) for n in range(1, 31)]
    judged += [
        JudgedArrival(n, start + timedelta(hours=n), None, ((1, 0.5),) if n < 100 + alarms else ())
        for n in range(100, 900)
    ]
    return evaluate(judged, issues=1_000, arrived=[one.arrived for one in judged], min_confidence=0.37)


@pytest.mark.slow
def test_a_result_reads_as_it_was_written_and_replaces_the_one_before(store: Store) -> None:
    runs = EvaluationRuns(store.engine)
    runs.put(1, result(), NOW)
    runs.put(1, result(5), NOW + 1)
    runs.put(2, result(), NOW)
    kept = runs.get(1)
    assert (kept.result, kept.made_at, kept.run) == (result(5), NOW + 1, EvaluationRun())
    assert kept.result is not None and kept.result.to_json() == result(5).to_json()
    assert runs.get(3).result is None


def test_p5_a_result_of_the_former_scale_is_none(store: Store) -> None:
    """Its thresholds are chances that somebody marks a duplicate, and would be set as something else."""
    EvaluationRuns(store.engine).put(1, result(), NOW)
    with store.engine.begin() as connection:
        old = json.loads(connection.execute(sa.select(evaluations.c.result)).scalar_one())
        for month in (*old["monthly"].values(), *old["last_month"].values()):
            del month["said"]
        connection.execute(sa.update(evaluations).values(result=json.dumps(old)))
    assert EvaluationRuns(store.engine).get(1).result is None


def test_one_run_at_a_time_and_a_day_between_two(store: Store) -> None:
    runs = EvaluationRuns(store.engine)
    runs.put(1, result(), NOW - 9)
    assert runs.begin(1, "a", NOW)
    assert runs.get(1).run == EvaluationRun(Stage.WAITING, "a", NOW)
    assert not runs.begin(1, "b", NOW + 60)
    runs.note(1, "a", Stage.RUNNING)
    runs.note(1, "b", Stage.FAILED)
    assert runs.get(1).run.stage is Stage.RUNNING
    runs.note(1, "a", Stage.DONE)
    assert not runs.begin(1, "c", NOW + DAY - 1)
    assert runs.begin(1, "c", NOW + DAY)
    # The result stands until there is another.
    assert runs.get(1).result == result()
    assert runs.begin(2, "d", NOW)


@given(
    st.builds(EvaluationRun, st.sampled_from(Stage), asked_at=st.floats(0, 1e6)), st.floats(0, 2e6), st.floats(0, 1e6)
)
def test_waiting_ends_and_time_alone_brings_it_nearer(run: EvaluationRun, now: float, later: float) -> None:
    if now >= run.asked_at:
        assert 0 <= seconds_until_allowed(run, now + later) <= seconds_until_allowed(run, now)
    assert seconds_until_allowed(run, run.asked_at + max(DAY, LOST)) == 0
    if run.stage is Stage.FAILED:
        assert seconds_until_allowed(run, run.asked_at + SOON) == 0


@pytest.mark.parametrize("stage", [Stage.DONE, Stage.FAILED, Stage.WAITING, Stage.RUNNING])
def test_a_run_of_a_clock_that_was_far_ahead_and_was_set_back_keeps_nobody_waiting(stage: Stage) -> None:
    assert seconds_until_allowed(EvaluationRun(stage, "a", NOW + 365 * DAY), NOW) == 0
