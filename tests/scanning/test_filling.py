"""`doppel scan` reads a repository's issues by the steps of the bot's queue, and tells of each."""

from __future__ import annotations

from typing import Any, cast

from bot.app.wiring.indexes import StepQueue, fill_step_by_step
from bot.deliveries.events import IndexEvent
from bot.domain.entities import RepoRef, Repository
from bot.storage.repositories import Progress

REPOSITORY = Repository(7, RepoRef("acme", "app"), False, False)


class Steps:
    """An index, its progress and its issue forms: each step comes to the next of what was prepared."""

    def __init__(self, queue: StepQueue, *reached: Progress | None) -> None:
        self._queue = queue
        self._left = list(reached)
        self._now: Progress | None = None

    def refresh(self, *_: object) -> None: ...

    def step(self, event: IndexEvent, *_: object) -> None:
        self._now = self._left.pop(0)
        if self._left:
            self._queue.put("", event, 5.0)

    def get(self, repo_id: int) -> Progress | None:
        assert repo_id == REPOSITORY.id
        return self._now


def told(*reached: Progress | None) -> tuple[list[Progress], list[float], Progress | None]:
    """What is told, for how long it waits before each step, and where it ends."""
    queue, heard, waited = StepQueue(), list[Progress](), list[float]()
    steps = cast("Any", Steps(queue, *reached))
    end = fill_step_by_step(
        steps, queue, steps, steps, steps, REPOSITORY, chain="by hand", sleep=waited.append, tell=heard.append
    )
    return heard, waited, end


def test_each_step_is_told_and_waited_for() -> None:
    some, everything = Progress(seen=100, expected=150), Progress(seen=150, expected=150, done=True)
    assert told(some, everything) == ([some, everything], [0.0, 5.0], everything)


def test_what_cannot_go_on_now_ends_it() -> None:
    stopped = Progress(seen=100, problem="GitHub is out of order")
    assert told(stopped, Progress(seen=150, done=True)) == ([stopped], [0.0], stopped)


def test_a_repository_that_is_forgotten_meanwhile_has_no_progress_to_tell() -> None:
    assert told(None) == ([], [0.0], None)
