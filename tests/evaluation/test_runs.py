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

from bot.evaluation.history import Said
from bot.evaluation.marks import Marks
from bot.evaluation.metrics import Judged
from bot.evaluation.report import Evaluation, evaluate
from bot.evaluation.runs import DAY, LOST, SOON, Run, Runs, Stage, wait
from bot.evaluation.statements import READING, Kind, Statement
from bot.settings import Settings
from bot.store import Store, open_store
from bot.store.tables.schema import evaluations

NOW = 1_800_000_000.0


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    store = open_store(Settings(home=Path("unused"), database_url=store_url))
    yield store
    store.close()


def result(alarms: int = 3) -> Evaluation:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    judged = [Judged(n, start + timedelta(hours=n), frozenset({0}), ((0, n / 31),)) for n in range(1, 31)]
    judged += [
        Judged(n, start + timedelta(hours=n), None, ((1, 0.5),) if n < 100 + alarms else ()) for n in range(100, 900)
    ]
    return evaluate(judged, issues=1_000, arrived=[one.arrived for one in judged], min_confidence=0.37)


@pytest.mark.slow
def test_a_result_reads_as_it_was_written_and_replaces_the_one_before(store: Store) -> None:
    runs = Runs(store.engine)
    runs.keep(1, result(), NOW)
    runs.keep(1, result(5), NOW + 1)
    runs.keep(2, result(), NOW)
    kept = runs.get(1)
    assert (kept.result, kept.made_at, kept.run) == (result(5), NOW + 1, Run(Stage.NONE))
    assert kept.result is not None and kept.result.to_json() == result(5).to_json()
    assert runs.get(3).result is None


def test_a_result_of_another_version_is_none(store: Store) -> None:
    Runs(store.engine).keep(1, result(), NOW)
    with store.engine.begin() as connection:
        connection.execute(sa.update(evaluations).values(result='{"issues": 1}'))
    assert Runs(store.engine).get(1).result is None


def test_p5_a_result_of_the_former_scale_is_none(store: Store) -> None:
    """Its thresholds are chances that somebody marks a duplicate, and would be set as something else."""
    Runs(store.engine).keep(1, result(), NOW)
    with store.engine.begin() as connection:
        old = json.loads(connection.execute(sa.select(evaluations.c.result)).scalar_one())
        for month in (*old["monthly"].values(), *old["last_month"].values()):
            del month["said"]
        connection.execute(sa.update(evaluations).values(result=json.dumps(old)))
    assert Runs(store.engine).get(1).result is None


@pytest.mark.slow
def test_one_run_at_a_time_and_a_day_between_two(store: Store) -> None:
    runs = Runs(store.engine)
    runs.keep(1, result(), NOW - 9)
    assert runs.begin(1, "a", NOW) == Run(Stage.READING, "a", NOW, NOW)
    assert runs.begin(1, "b", NOW + 60) is None
    assert runs.note(1, "a", NOW + 70, done=50, total=60, read_until="2026-01-01T00:00:00Z")
    assert not runs.note(1, "b", NOW + 71, stage=Stage.FAILED)
    assert runs.note(1, "a", NOW + 80, stage=Stage.DONE)
    assert runs.begin(1, "c", NOW + DAY - 1) is None
    # What was read need not be read again, and the result stands until there is another.
    begun = runs.begin(1, "c", NOW + DAY)
    assert begun is not None and begun.read_until == "2026-01-01T00:00:00Z"
    assert runs.get(1).result == result()
    assert runs.begin(2, "d", NOW) is not None


@pytest.mark.parametrize("reading", [None, READING - 1])
def test_what_a_version_before_had_read_is_read_again_once(store: Store, reading: int | None) -> None:
    """It understood less of what was said, and kept less of it."""
    runs = Runs(store.engine)
    assert runs.begin(1, "a", NOW)
    assert runs.note(1, "a", NOW + 1, stage=Stage.DONE, read_until="2026-01-01T00:00:00Z")
    with store.engine.begin() as connection:
        connection.execute(sa.update(evaluations).values(reading=reading))
    again = runs.begin(1, "b", NOW + DAY)
    assert again is not None and again.read_until == ""
    assert runs.note(1, "b", NOW + DAY + 1, stage=Stage.DONE, read_until="2026-01-02T00:00:00Z")
    once = runs.begin(1, "c", NOW + 2 * DAY)
    assert once is not None and once.read_until == "2026-01-02T00:00:00Z"


@given(
    st.builds(Run, st.sampled_from(Stage), asked_at=st.floats(0, 1e6), updated_at=st.floats(0, 1e6)),
    st.floats(0, 2e6),
    st.floats(0, 1e6),
)
def test_waiting_ends_and_time_alone_brings_it_nearer(run: Run, now: float, later: float) -> None:
    if now >= max(run.asked_at, run.updated_at):
        assert 0 <= wait(run, now + later) <= wait(run, now)
    assert wait(run, max(run.asked_at, run.updated_at) + max(DAY, LOST)) == 0
    if run.stage is Stage.FAILED:
        assert wait(run, run.asked_at + SOON) == 0


@pytest.mark.parametrize("stage", [Stage.DONE, Stage.FAILED, Stage.READING, Stage.REPLAYING])
def test_a_run_of_a_clock_that_was_far_ahead_and_was_set_back_keeps_nobody_waiting(store: Store, stage: Stage) -> None:
    runs = Runs(store.engine)
    ahead = NOW + 365 * DAY
    assert runs.begin(1, "a", ahead)
    assert runs.note(1, "a", ahead, stage=stage)
    assert runs.begin(1, "b", NOW)


def test_marks_hold_what_was_said_last_and_nothing_of_whom_nothing_is_said(store: Store) -> None:
    marks = Marks(store.engine)
    said = Said(True, (Statement(Kind.SAYS, 4, "2026-01-01T00:00:00Z"), Statement(Kind.HINTS, None, "2026-01-02")))
    closed, claimed = Said(closed_by="rita"), Said(statements=(Statement(Kind.HINTS, 4, "2026-01-02", "eve"),))
    marks.put(1, {5: said, 6: Said(True), 7: Said(), 8: closed, 9: claimed})
    assert marks.said(1) == {5: said, 6: Said(True), 8: closed, 9: claimed}
    marks.put(1, {5: Said(), 6: said, 8: Said(), 9: Said()})
    assert marks.said(1) == {6: said}
    assert marks.said(2) == {}
