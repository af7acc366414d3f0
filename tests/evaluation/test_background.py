"""An evaluation that was asked for on the dashboard: small steps with rests, a replay apart, failures by name."""

from __future__ import annotations

import dataclasses
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.config.model import MIN_CONFIDENCE
from bot.errors import RateLimited, Retryable
from bot.evaluation.apart import NothingToJudge, Wanted, evaluate_apart
from bot.evaluation.history import rows as rows_of
from bot.evaluation.labels import WARM
from bot.evaluation.marks import Marks
from bot.evaluation.reading import read_history
from bot.evaluation.report import Evaluation, evaluate
from bot.evaluation.runs import Kept, Runs, Stage
from bot.evaluation.trial import Trial, as_the_bot_asks
from bot.events import EvaluationEvent
from bot.model import RepoRef
from handlers import evaluating
from tests.evaluation.made_up import rows
from tests.indexing.conftest import REPO, Host, host
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.slow

__all__ = ["host"]

FOUND = evaluate([], issues=0, arrived=[], min_confidence=0.2)


@pytest.fixture
def store_url(new_store: Callable[[str], str]) -> str:
    """One kind of database will do: what is kept is tested on both in test_runs.py."""
    return new_store("sqlite")


@pytest.fixture
def filled(host: Host, monkeypatch: pytest.MonkeyPatch) -> Host:
    """Sixty issues in the index, of which twelve were closed as duplicates; pages of twenty, two in a step."""
    monkeypatch.setattr("bot.github.repository.history.PAGE", 20)
    monkeypatch.setattr(evaluating, "AT_ONCE", 2)
    host.sim.load_issues(rows(), REPO)
    host.install()
    host.queue.delays.clear()
    return host


def use(host: Host, replay: Callable[..., Evaluation]) -> None:
    """Answer with this instead of a replay."""
    host.services = dataclasses.replace(host.services, evaluate=replay)


def ask(host: Host) -> None:
    known = host.services.store.repositories.get(host.repo_id)
    now = host.services.now()
    run = Runs(host.services.store.engine).begin(host.repo_id, f"{now}", now)
    assert known is not None and run is not None
    event = EvaluationEvent(known.installation, known.summary, run.chain, since=run.read_until)
    host.queue.put(event.delivery_id, event)


def kept(host: Host) -> Kept:
    return Runs(host.services.store.engine).get(host.repo_id)


def begin_for_ever(begun: Path) -> Iterator[Any]:
    """What is read without an end, in the other process."""
    begun.touch()
    time.sleep(600)
    yield


@pytest.mark.processes
def test_what_somebody_has_ended_is_done_again(tmp_path: Path) -> None:
    """Where a host is stopped, all its processes are told to end, and this one may be the first that does."""
    begun = tmp_path / "begun"

    def end_it() -> None:
        wait_until(begun.exists)
        (process,) = multiprocessing.active_children()
        process.terminate()

    ending = threading.Thread(target=end_it, daemon=True)
    ending.start()
    with pytest.raises(Retryable, match="told to end"):
        evaluate_apart(Wanted(partial(begin_for_ever, begun), RepoRef.parse(REPO), 0.2), lambda done, total: None)
    ending.join(LONGEST)


def test_a_database_that_is_away_ends_no_evaluation(filled: Host) -> None:
    away = sa.exc.OperationalError("", {}, Exception(), connection_invalidated=True)

    def fails(*_: object) -> Evaluation:
        raise away

    use(filled, fails)
    ask(filled)
    with pytest.raises(sa.exc.OperationalError):
        filled.work()
    assert kept(filled).run.stage is Stage.REPLAYING


@pytest.mark.processes
def test_it_gives_what_the_command_line_gives(filled: Host, tmp_path: Path) -> None:
    """With the texts of the index, and a replay in a process of its own."""
    ask(filled)
    filled.work()
    found = kept(filled)
    assert (found.run.stage, found.run.problem) == (Stage.DONE, "")
    github = filled.services.github
    client = github.installation(github.app().installation_of(RepoRef.parse(REPO)))
    read = read_history(client, RepoRef.parse(REPO), tmp_path / "other", lambda done, total: None)
    trial = Trial.of([(row, "") for row in read], warm=WARM, sample=None, seed=0)
    expected = trial.judge(trial.ask(as_the_bot_asks(), 1, lambda: None), MIN_CONFIDENCE)
    assert found.result is not None and found.result.retrieval.queries == 12
    assert rounded(dataclasses.asdict(found.result)) == rounded(dataclasses.asdict(expected))


def rounded(value: Any) -> Any:
    """To four digits: products of one thread and of several differ in the last digits of a confidence."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


def test_what_was_said_is_read_in_steps_with_rests_and_only_what_has_changed_the_next_time(filled: Host) -> None:
    told = []

    def replay(repo_id: int, repo: RepoRef, bar: float, tell: Callable[[int, int], None]) -> Evaluation:
        tell(30, 60)
        told.append((repo_id, str(repo), bar, kept(filled).run))
        return FOUND

    use(filled, replay)
    ask(filled)
    filled.work(1)
    assert (kept(filled).run.stage, kept(filled).run.done, kept(filled).run.total) == (Stage.READING, 40, 60)
    filled.work(1)
    assert (kept(filled).run.stage, kept(filled).run.done, kept(filled).run.total) == (Stage.READING, 60, 60)
    filled.work()
    assert filled.queue.delays == [0.0, evaluating.REST, 0.0]
    ((repo_id, name, bar, run),) = told
    assert (repo_id, name, bar) == (filled.repo_id, REPO, MIN_CONFIDENCE)
    assert (run.stage, run.done, run.total) == (Stage.REPLAYING, 30, 60)
    assert (kept(filled).run.stage, kept(filled).result) == (Stage.DONE, FOUND)
    # The history is that which the command line reads, without a request for any text.
    records = Marks(filled.services.store.engine).history(filled.repo_id)
    assert {row["id"]: row.get("duplicate_of") for row in rows_of(records, RepoRef.parse(REPO))} == {
        row["id"]: row.get("duplicate_of") for row in rows()
    }
    filled.sim.clock.advance(86_400)
    filled.queue.delays.clear()
    ask(filled)
    filled.work()
    assert filled.queue.delays == [0.0, 0.0], "one page, and the replay"


def test_what_was_said_under_a_former_name_is_of_this_repository(filled: Host) -> None:
    use(filled, lambda *_: FOUND)
    repository = filled.sim.repository(REPO)
    filled.sim.rename_repository(repository, "old-app")
    filled.sim.rename_repository(repository, "app")
    filled.sim.set_permission(REPO, "rita", "write")
    for number in range(1, 61):
        filled.sim.comment(REPO, number, "rita", f"Duplicate of acme/old-app#{number + 100}")
    ask(filled)
    filled.work()
    said = Marks(filled.services.store.engine).said(filled.repo_id)
    for number in range(1, 61):
        last = said[number].statements[-1]
        assert (last.of, last.elsewhere) == (number + 100, "")


def test_a_step_that_is_done_again_counts_nothing_twice(filled: Host) -> None:
    use(filled, lambda *_: FOUND)
    ask(filled)
    taken = filled.queue.take()
    assert taken is not None
    for _ in range(2):
        filled.queue.back(*taken)
        filled.work(1)
    assert kept(filled).run.done == 40
    filled.work()
    assert kept(filled).run.stage is Stage.DONE


def test_a_refusal_ends_it_by_name_and_leaves_the_result_before(filled: Host) -> None:
    runs = Runs(filled.services.store.engine)
    runs.keep(filled.repo_id, FOUND, 1.0)
    filled.sim.faults.add("/graphql", status=403, times=None)
    ask(filled)
    filled.work()
    assert (kept(filled).run.stage, kept(filled).result) == (Stage.FAILED, FOUND)
    assert kept(filled).run.problem == "GitHub refuses to show the history (403)"


def test_a_limit_is_waited_for_and_said(filled: Host) -> None:
    filled.sim.faults.add("/graphql", "secondary_limit", retry_after=600, times=None)
    ask(filled)
    with pytest.raises(RateLimited):
        filled.work()
    assert kept(filled).run.stage is Stage.READING
    assert "limit" in kept(filled).run.problem


def test_nothing_to_judge_by_is_no_failure(filled: Host) -> None:
    def nothing(*_: object) -> Evaluation:
        raise NothingToJudge("no issue is known to be a duplicate")

    use(filled, nothing)
    ask(filled)
    filled.work()
    assert (kept(filled).run.stage, kept(filled).run.problem) == (Stage.DONE, "no issue is known to be a duplicate")


def test_a_fault_is_told_without_a_text(filled: Host) -> None:
    def fails(*_: object) -> Evaluation:
        raise ValueError("The map stays grey")

    use(filled, fails)
    ask(filled)
    with pytest.raises(ValueError, match="grey"):
        filled.work()
    assert kept(filled).run.stage is Stage.FAILED
    assert "grey" not in kept(filled).run.problem


def test_c6a_of_a_repository_whose_access_ends_meanwhile_nothing_stays(filled: Host) -> None:
    def leaves(repo_id: int, *_: object) -> Evaluation:
        filled.services.store.forget(repo_id)
        return FOUND

    use(filled, leaves)
    ask(filled)
    filled.work()
    assert (kept(filled).run.stage, kept(filled).result) == (Stage.NONE, None)
