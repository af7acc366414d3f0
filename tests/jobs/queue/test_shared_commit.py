"""Several threads' items are committed together, each is told its own outcome, and none waits without end."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.jobs.queue.job import QueueUnavailable
from bot.jobs.queue.shared_commit import SharedCommit
from tests.waiting import LONGEST, wait_until


class Disk:
    """What is written, batch by batch; the first batch is held up until `go` is set."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def write(self, items: Sequence[int]) -> list[bool]:
        self.batches.append(list(items))
        self.begun.set()
        assert self.go.wait(LONGEST)
        if 13 in items:
            raise OSError("no space left")
        return [item % 2 == 0 for item in items]


def gathered(disk: Disk, shared: SharedCommit[int], items: Sequence[int]) -> list[bool | str]:
    """Outcomes of the items, the first of which was being written when the others came."""

    def put(item: int) -> bool | str:
        try:
            return shared.put(item)
        except OSError as failure:
            return str(failure)

    with ThreadPoolExecutor(len(items)) as pool:
        outcomes = [pool.submit(put, items[0])]
        assert disk.begun.wait(LONGEST)
        outcomes += [pool.submit(put, item) for item in items[1:]]
        wait_until(lambda: len(shared._waiting) == len(items) - 1)
        disk.go.set()
        return [one.result(LONGEST) for one in outcomes]


def test_what_comes_while_one_writes_is_written_together_and_each_learns_its_own_outcome() -> None:
    disk = Disk()
    assert gathered(disk, SharedCommit(disk.write, LONGEST), [1, 2, 3, 4, 5]) == [False, True, False, True, False]
    assert [sorted(batch) for batch in disk.batches] == [[1], [2, 3, 4, 5]]


def test_a_failure_is_told_to_all_that_were_written_together_and_to_nobody_else() -> None:
    disk = Disk()
    shared = SharedCommit(disk.write, LONGEST)
    assert gathered(disk, shared, [2, 13, 4]) == [True, "no space left", "no space left"]
    assert shared.put(4)


def test_who_waits_too_long_is_told_so_and_is_not_written() -> None:
    disk = Disk()
    shared = SharedCommit(disk.write, 0.05)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(shared.put, 2)
        assert disk.begun.wait(LONGEST)
        with pytest.raises(QueueUnavailable, match="busy"):
            shared.put(4)
        disk.go.set()
        assert first.result(LONGEST)
    assert disk.batches == [[2]]


def test_the_end_of_the_writing_thread_leaves_the_others_an_answer() -> None:
    disk = Disk()

    def write(items: Sequence[int]) -> list[bool]:
        if items == [1]:
            disk.write(items)
            raise SystemExit
        raise KeyboardInterrupt

    shared = SharedCommit(write, LONGEST)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(shared.put, 1)
        assert disk.begun.wait(LONGEST)
        others = [pool.submit(shared.put, item) for item in (2, 4)]
        wait_until(lambda: len(shared._waiting) == 2)
        disk.go.set()
        with pytest.raises(SystemExit):
            first.result(LONGEST)
        failures = {type(one.exception(LONGEST)) for one in others}
    assert failures == {KeyboardInterrupt, QueueUnavailable}


@pytest.mark.parametrize("threads", [1, 8])
def test_everything_is_written_once(threads: int) -> None:
    written: list[int] = []

    def write(items: Sequence[int]) -> list[bool]:
        written.extend(items)
        return [True] * len(items)

    shared = SharedCommit(write, LONGEST)
    with ThreadPoolExecutor(threads) as pool:
        assert all(pool.map(shared.put, range(2_000)))
    assert sorted(written) == list(range(2_000))
