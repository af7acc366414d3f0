"""A job that kills its worker is found out, and takes none of those beside it with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.jobs.queue.database import prepare, queue_engine, trials
from bot.jobs.queue.steadily import steadily
from bot.jobs.recovery.trials import MOST_DEATHS, Deadly, Trials
from bot.settings import Settings
from bot.telemetry.logs import Quoted
from tests.waiting import LONGEST

#: How often each was claimed.
CLAIMS = {"new": 1, "again": 2, "once more": 3}


@pytest.fixture
def engine(database_url: str, tmp_path: Path) -> Iterator[sa.Engine]:
    """A queue's database."""
    engine = queue_engine(Settings(home=tmp_path, database_url=database_url))
    prepare(engine)
    yield engine
    engine.dispose()


def noted(engine: sa.Engine) -> int:
    with engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(trials)).scalar_one()


@pytest.mark.slow
def test_who_was_claimed_before_runs_alone(engine: sa.Engine) -> None:
    fair, changing, beside, most = Trials(engine), threading.Lock(), set[str](), dict[str, int]()

    def run(name: str) -> None:
        with fair.fair(name, CLAIMS[name]):
            with changing:
                beside.add(threading.current_thread().name)
                most[name] = max(most.get(name, 0), len(beside))
            threading.Event().wait(0.02)
            with changing:
                beside.discard(threading.current_thread().name)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, [*CLAIMS] * 8))
    assert (most["again"], most["once more"]) == (1, 1)
    assert noted(engine) == 0


def test_who_was_never_claimed_before_runs_beside_others(engine: sa.Engine) -> None:
    fair, both_at_work = Trials(engine), threading.Barrier(2)

    def run(_: int) -> None:
        with fair.fair("new", 1):
            both_at_work.wait(LONGEST)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))
    assert noted(engine) == 0


def test_a_job_whose_worker_dies_each_time_is_given_up(engine: sa.Engine) -> None:
    for deaths in range(MOST_DEATHS):
        # Nobody ends a trial when the process dies in it.
        assert Trials(engine)._begin("again") == deaths
    with pytest.raises(Deadly), Trials(engine).fair("again", 2):
        pytest.fail("it was tried once more")
    assert noted(engine) == 0, "who tries it again by hand begins anew"
    with Trials(engine).fair("once more", 3):
        pass


@pytest.mark.slow
def test_background_work_is_tried_when_the_deliveries_that_were_claimed_before_are_done(
    engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever of them kills is found out by its own note, and no other has one."""
    monkeypatch.setattr("bot.jobs.recovery.trials.SETTLED", 2.0)
    fair, done, begun = Trials(engine), list[str](), threading.Event()

    def try_behind() -> None:
        begun.set()
        with fair.fair("behind", 2, behind=True):
            done.append("behind")
            assert noted(engine) == 1

    with ThreadPoolExecutor(1) as pool:
        tried = pool.submit(try_behind)
        assert begun.wait(LONGEST)
        for name in ("again", "once more"):
            with fair.fair(name, 2):
                assert noted(engine) == 1
                done.append(name)
        tried.result(LONGEST)
    assert (done, noted(engine)) == (["again", "once more", "behind"], 0)


def test_a_delivery_is_tried_beside_background_work(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.jobs.recovery.trials.SETTLED", 0.0)
    fair = Trials(engine)
    for claims in (1, 2):
        with fair.fair("behind", claims, behind=True), ThreadPoolExecutor(1) as pool:

            def run() -> None:
                with fair.fair("again", 2):
                    pass

            pool.submit(run).result(LONGEST)


def test_background_work_whose_worker_dies_each_time_is_given_up(
    engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.jobs.recovery.trials.SETTLED", 0.0)
    for _ in range(MOST_DEATHS):
        Trials(engine)._begin("behind")
    with pytest.raises(Deadly), Trials(engine).fair("behind", 2, behind=True):
        pytest.fail("it was tried once more")


def test_what_only_fails_is_no_death(engine: sa.Engine) -> None:
    for _ in range(MOST_DEATHS + 1):
        with pytest.raises(ValueError, match="bad"), Trials(engine).fair("again", 2):
            raise ValueError("bad")


def test_a_database_that_is_away_makes_no_dead_letter_and_not_a_line_a_second(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bot.jobs.queue.steadily.AGAIN_AFTER", 0.0)
    away: list[Exception | str] = [sa.exc.OperationalError("", {}, Exception("Connection refused")) for _ in range(50)]
    said = [*away, sa.exc.TimeoutError(), "there"]
    answers = iter(said)

    def ask() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert steadily(ask) == "there"
    quoted = Quoted()
    assert [line.getMessage() for line in map(quoted.fit, caplog.records) if line] == [
        "the queue is unavailable, and asked again: nothing listens there",
        "the queue is unavailable, and asked again: TimeoutError",
    ]
