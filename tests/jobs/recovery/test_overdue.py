"""What is overdue: by its own limit, told once, and not what waits for the database."""

from __future__ import annotations

from bot.events import IndexEvent, IssueEvent, to_json
from bot.jobs.fairness.lanes import lane_of
from bot.jobs.queue.job import Message
from bot.jobs.recovery.overdue import LONGEST, LONGEST_BEHIND, STOOD_STILL, AtWork, Running
from bot.model import Actor, RepoRef, Repository

ANN, REPOSITORY = Actor("ann"), Repository(5, RepoRef("acme", "app"), private=False)


def message(event: IssueEvent | IndexEvent) -> Message:
    return Message("d", 1, 0, 0, event.partition, to_json(event), lane_of(event))


DELIVERY = message(IssueEvent("opened", 1, REPOSITORY, 7, ANN, ANN))
BACKGROUND = message(IndexEvent(1, REPOSITORY, "chain"))


def test_each_by_its_own_limit_and_told_once() -> None:
    now = 0.0
    at_work = AtWork(lambda: now)

    def looked_at_until(end: float) -> list[Running]:
        """What the last of all looks until then tells."""
        nonlocal now
        while now + STOOD_STILL < end:
            now += STOOD_STILL
            assert at_work.overdue() == []
        now = end
        return at_work.overdue()

    with at_work.job(DELIVERY), at_work.job(BACKGROUND), at_work.chore("tidy"):
        assert looked_at_until(LONGEST) == []
        (late,) = looked_at_until(LONGEST + 1)
        assert late.message is DELIVERY
        assert "test_overdue.py" in late.stack()[-2] + late.stack()[-3]
        assert at_work.overdue() == []
        assert {one.name for one in looked_at_until(LONGEST_BEHIND + 1)} == {"delivery d", "chore tidy"}
        assert len(at_work) == 3
    assert len(at_work) == 0
    assert at_work.overdue() == []


def test_what_waits_for_the_queues_database_is_not_overdue() -> None:
    now = 0.0
    at_work = AtWork(lambda: now)
    with at_work.job(DELIVERY) as running:
        running.may_take_longer()
        now = 100 * LONGEST
        assert at_work.overdue() == []


def test_what_stood_still_with_its_whole_process_is_not_overdue() -> None:
    """As in a container that is paused for a backup: each job would count as failed, and some be given up for good."""
    now = 0.0
    at_work = AtWork(lambda: now)
    with at_work.job(DELIVERY):
        now = 5.0
        assert at_work.overdue() == []
        now += 10 * LONGEST
        assert at_work.overdue() == []
        while now < 11 * LONGEST:
            now += 5.0
            assert at_work.overdue() == [], "it has nearly all of its time yet"
        now += 10.0
        assert [one.name for one in at_work.overdue()] == ["delivery d"]
