"""Lanes: an issue's work is always in the same one, and an installation has few."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.events import CommentEvent, EvaluationEvent, IndexEvent, InstallationEvent, IssueEvent, to_json
from bot.jobs.fairness.lanes import LANES, lane_of, lane_of_text, owner_of
from bot.jobs.queue.database import BACKGROUND_QUEUE, QUEUE, REPLAY_QUEUE, queue_for
from bot.model import Actor, RepoRef, Repository

ANN = Actor("ann")
ids = st.integers(1, 2**53)
installations = st.none() | ids


def repository(repo_id: int) -> Repository:
    return Repository(repo_id, RepoRef("acme", "app"), private=False)


@given(installations, ids, ids)
def test_all_that_concerns_an_issue_is_in_one_lane(installation: int | None, repo_id: int, number: int) -> None:
    opened = IssueEvent("opened", installation, repository(repo_id), number, ANN, ANN)
    command = CommentEvent("created", installation, repository(repo_id), number, ANN, 7, "/duplicates")
    assert lane_of(opened) == lane_of(command) == lane_of_text(to_json(opened), "otherwise")
    assert queue_for(lane_of(opened)) == queue_for(opened.partition) == QUEUE


@given(ids, st.sets(st.tuples(ids, ids), min_size=1, max_size=50))
def test_an_installation_has_few_lanes_of_each_queue(installation: int, issues: set[tuple[int, int]]) -> None:
    events = [IssueEvent("opened", installation, repository(repo), n, ANN, ANN) for repo, n in issues]
    steps = [IndexEvent(installation, repository(repo), "chain") for repo, _ in issues]
    lanes, background = set(map(lane_of, events)), set(map(lane_of, steps))
    assert len(lanes) <= LANES
    assert len(background) <= LANES
    assert {queue_for(lane) for lane in background} == {BACKGROUND_QUEUE}
    assert set(map(owner_of, lanes)) == {str(installation)}


@given(ids, ids, ids, ids)
def test_two_installations_share_no_lane(one: int, two: int, repo_id: int, number: int) -> None:
    lanes = {lane_of(IssueEvent("opened", who, repository(repo_id), number, ANN, ANN)) for who in (one, two)}
    assert len(lanes) == len({one, two})


@given(ids, st.text())
def test_the_end_of_an_installation_waits_for_none_of_its_issues(installation: int, text: str) -> None:
    gone = InstallationEvent("installation", "deleted", installation, "acme", ANN)
    assert lane_of(gone) == gone.partition == owner_of(gone.partition)
    assert lane_of_text(text, "otherwise") == "otherwise", "what cannot be read is in a lane all the same"


@given(installations, ids)
def test_a_replay_is_background_work_to_an_earlier_version_too(installation: int | None, repo_id: int) -> None:
    """Beside a new one, or after a rollback, its workers draw from this queue as well, and know background by `index:`:
    what they take for a delivery they end with themselves after fifteen minutes.
    """
    event = EvaluationEvent(installation, repository(repo_id), "chain")
    for name in (event.partition, lane_of(event)):
        assert queue_for(name) == REPLAY_QUEUE
        assert name.startswith("index:")
