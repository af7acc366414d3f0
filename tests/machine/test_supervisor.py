"""What `doppel serve` does with a child that ends: it starts another, and sees when that is of no use."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bot.deliveries.queue import POISON
from bot.domain.errors import Unavailable
from bot.platform.processes import DEATHS, KILLS, KILLS_WITHIN_SECONDS, WITHIN_SECONDS, Supervisor
from tests.waiting import wait_until

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
    with pytest.raises(Unavailable, match=f"worker keeps ending, {DEATHS} times by now, last with 3"):
        end("exit 3", DEATHS, 1.0)


def test_one_that_ends_by_itself_once_in_a_while_is_started_again(end: End) -> None:
    end("exit 3", DEATHS + 2, WITHIN_SECONDS / (DEATHS - 1))


def test_the_jobs_that_kill_their_worker_do_not_end_the_receiver(end: End) -> None:
    """An issue that does has several events at once: it is opened, labelled by its form, assigned."""
    end("kill -KILL $$", 3 * POISON, 2.0)


def test_one_that_is_killed_without_end_is_given_up(end: End) -> None:
    with pytest.raises(Unavailable, match=f"{KILLS} times by now, last with -9"):
        end("kill -KILL $$", KILLS, KILLS_WITHIN_SECONDS / (KILLS + 1))
