"""Who keeps whom waiting: an installation or a repository that sends much, background work, and what kills workers."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from bot.deliveries.database import QUEUE
from bot.deliveries.inbox import new_job
from bot.deliveries.queue import Queue
from bot.deliveries.worker import Job
from bot.domain.errors import RateLimited
from tests.jobs.conftest import Bench, Held, change, event, replay, step
from tests.waiting import stays, wait_until

pytestmark = pytest.mark.slow


def test_the_installation_with_the_fewest_running_jobs_is_next(engine: sa.Engine) -> None:
    queue = Queue(engine)
    queue.put([new_job(f"loud-{n}", event(n, repo_id=10 + n, installation=1)) for n in range(9)])
    queue.put([new_job(f"quiet-{n}", event(n, repo_id=50, installation=2)) for n in range(2)])
    claims = queue.claim(QUEUE, 5)
    assert [claim.id for claim in claims] == ["loud-0", "quiet-0", "loud-1", "quiet-1", "loud-2"]


def test_an_installation_whose_jobs_all_wait_keeps_no_other_waiting(bench: Bench) -> None:
    """The short form of `python -m bench.fairness`: 40 events of one, each of which lasts, and 10 of another."""
    held = Held()
    for n in range(40):
        bench.reactions[f"noisy-{n}"] = held
        bench.inbox.put(f"noisy-{n}", event(n, repo_id=81, installation=81))
    wait_until(lambda: held.at_work == 4)
    quiet = [f"quiet-{n}" for n in range(10)]
    for n, delivery in enumerate(quiet):
        bench.inbox.put(delivery, event(n, repo_id=82, installation=82))
    wait_until(lambda: bench.states(*quiet) == ["done"] * 10)
    assert (held.at_work, held.most) == (4, 4), "it has its own places all the time, and no more"
    bench.inbox.erase(81)
    held.go.set()


def test_a_limit_of_github_holds_up_the_issues_of_its_repository_and_nothing_else(bench: Bench) -> None:
    """Each further try would spend requests that the installation's other repositories and its own commands need."""

    def limited(job: Job) -> None:
        raise RateLimited("GitHub's rate limit is used up for now", after=3_600)

    noisy, sibling = [f"limited-{n}" for n in range(40)], [f"unlimited-{n}" for n in range(10)]
    bench.reactions |= dict.fromkeys(noisy, limited)
    for n, delivery in enumerate(noisy):
        bench.inbox.put(delivery, event(n, repo_id=83, installation=83))
    wait_until(lambda: bench.calls(*noisy))
    for n, delivery in enumerate(sibling):
        bench.inbox.put(delivery, event(n, repo_id=84, installation=83))
    bench.inbox.put("limited-suspect", event(98, repo_id=83, installation=83), delay_seconds=600)
    bench.due("limited-suspect", crashes=2)
    wait_until(lambda: bench.states(*sibling, "limited-suspect") == ["done"] * 11)
    bench.inbox.put("limited-edit", replace(event(99, repo_id=83, installation=83), action="edited"))
    wait_until(lambda: bench.states("limited-edit") == ["done"])
    assert len(bench.calls(*noisy)) < 20, "those that had been claimed when the first met the limit"
    assert bench.states(*noisy) == ["waiting"] * 40
    assert min(bench.waits(delivery) for delivery in noisy) > 200
    bench.inbox.erase(83)


def test_background_work_is_done_one_piece_at_a_time_and_keeps_no_delivery_waiting(bench: Bench, number: int) -> None:
    held, steps = Held(), [step(repo_id) for repo_id in range(7_000, 7_006)]
    ids = [one.delivery_id for one in steps]
    for one in steps:
        bench.reactions[one.delivery_id] = held
        assert bench.inbox.put(one.delivery_id, one)
        assert not bench.inbox.put(one.delivery_id, one)
    wait_until(lambda: held.at_work == 1)
    bench.inbox.put("beside", event(number))
    wait_until(lambda: bench.states("beside") == ["done"])
    held.go.set()
    wait_until(lambda: bench.states(*ids) == ["done"] * 6)
    assert held.most == 1


def test_a_replay_keeps_no_index_waiting_but_another_replay(bench: Bench) -> None:
    held, replays = Held(), [replay(repo_id) for repo_id in (7_200, 7_201)]
    steps = [step(repo_id) for repo_id in (7_200, 7_201)]
    for one in replays:
        bench.reactions[one.delivery_id] = held
        bench.inbox.put(one.delivery_id, one)
    wait_until(lambda: held.at_work == 1)
    for each in steps:
        bench.inbox.put(each.delivery_id, each)
    wait_until(lambda: bench.states(*(each.delivery_id for each in steps)) == ["done", "done"])
    held.go.set()
    wait_until(lambda: bench.states(*(one.delivery_id for one in replays)) == ["done", "done"])
    assert held.most == 1


def test_a_delivery_whose_worker_died_twice_runs_alone_and_all_others_wait_for_it(bench: Bench, number: int) -> None:
    held, alone = Held(), Held()
    bench.reactions |= {f"before-{number}": held, f"suspect-{number}": alone}
    bench.inbox.put(f"suspect-{number}", event(-number), delay_seconds=600)
    bench.inbox.put(f"before-{number}", event(number))
    wait_until(lambda: held.at_work == 1)
    bench.due(f"suspect-{number}", crashes=2)
    bench.inbox.put(f"after-{number}", event(-number, repo_id=6))
    stays(lambda: bench.states(f"suspect-{number}", f"after-{number}") == ["waiting", "waiting"])
    held.go.set()
    wait_until(lambda: alone.at_work == 1)
    stays(lambda: bench.states(f"before-{number}", f"after-{number}") == ["done", "waiting"])
    alone.go.set()
    wait_until(lambda: bench.states(f"suspect-{number}", f"after-{number}") == ["done", "done"])


def test_one_that_cannot_run_yet_keeps_nobody_waiting(bench: Bench, number: int) -> None:
    """An earlier one of its issue is due in a minute; each would have waited for the other, and all for both."""
    bench.inbox.put(f"earlier-{number}", event(number), delay_seconds=600)
    bench.inbox.put(f"suspect-{number}", event(number), delay_seconds=600)
    change(bench.engine, f"earlier-{number}", run_after=bench.queue.now + 60)
    bench.due(f"suspect-{number}", crashes=2)
    bench.inbox.put(f"beside-{number}", event(-number))
    wait_until(lambda: bench.states(f"beside-{number}") == ["done"])
    bench.due(f"earlier-{number}")
    wait_until(lambda: bench.states(f"earlier-{number}", f"suspect-{number}") == ["done", "done"])


def test_background_work_whose_worker_died_keeps_no_delivery_waiting(bench: Bench, number: int) -> None:
    """It can last for hours."""
    held, work = Held(), step(9_000 + number)
    bench.reactions[work.delivery_id] = held
    bench.inbox.put(work.delivery_id, work, delay_seconds=600)
    bench.due(work.delivery_id, crashes=2)
    wait_until(lambda: held.at_work == 1)
    bench.inbox.put(f"beside-{number}", event(number))
    wait_until(lambda: bench.states(f"beside-{number}") == ["done"])
    held.go.set()
    wait_until(lambda: bench.states(work.delivery_id) == ["done"])
