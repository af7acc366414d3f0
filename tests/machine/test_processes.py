"""Child processes: what `doppel serve` does with a child that ends, and pools that end with their block."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from bot.deliveries.queue import POISON
from bot.domain.errors import DoppelError, Unavailable
from bot.platform.processes import (
    EXITS,
    KILLS,
    KILLS_WITHIN_SECONDS,
    WITHIN_SECONDS,
    Supervisor,
    running_in_processes,
)
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.processes

End = Callable[[str, int, float], None]


@pytest.fixture
def end() -> Iterator[End]:
    """Lets one child end by a command, so many times, so many seconds apart."""
    begun: list[Supervisor] = []

    def end(command: str, times: int, apart: float) -> None:
        supervisor = Supervisor({"worker": ("sh", "-c", command)})
        begun.append(supervisor)
        supervisor.start()
        for death in range(times):
            wait_until(lambda: supervisor._children["worker"].poll() is not None, every=0.005)
            supervisor.check(1000.0 + death * apart)

    yield end
    for supervisor in begun:
        supervisor.stop()


def test_one_that_ends_by_itself_again_and_again_is_given_up(end: End) -> None:
    with pytest.raises(Unavailable, match=f"worker keeps ending, {EXITS} times by now, last with 3"):
        end("exit 3", EXITS, 1.0)


def test_one_that_ends_by_itself_once_in_a_while_is_started_again(end: End) -> None:
    end("exit 3", EXITS + 2, WITHIN_SECONDS / (EXITS - 1))


def test_the_jobs_that_kill_their_worker_do_not_end_the_receiver(end: End) -> None:
    """An issue that does has several events at once: it is opened, labelled by its form, assigned."""
    end("kill -KILL $$", 3 * POISON, 2.0)


def test_one_that_is_killed_without_end_is_given_up(end: End) -> None:
    with pytest.raises(Unavailable, match=f"{KILLS} times by now, last with -9"):
        end("kill -KILL $$", KILLS, KILLS_WITHIN_SECONDS / (KILLS + 1))


def test_a_pool_that_ends_leaves_the_processes_of_another_alone() -> None:
    with ExitStack() as first:
        first.enter_context(running_in_processes(1, pow, [(2, 4)], time.sleep, 0))
        with running_in_processes(1, pow, [(2, 5)], time.sleep, 0) as answers:
            first.close()
            assert answers[0].result(LONGEST) == 32


def test_who_loses_a_process_of_a_pool_reads_what_to_do() -> None:
    calls: list[tuple[int]] = [(9,)]
    with pytest.raises(DoppelError, match="fewer"), running_in_processes(1, os._exit, calls, time.sleep, 0) as answers:
        answers[0].result(LONGEST)
