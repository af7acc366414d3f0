"""Filling the index: everything is read once, politely, however often it is interrupted."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

import pytest

from bot.domain.errors import Unavailable
from bot.github.changes import ChangesPage
from bot.github.repository import RepoClient
from bot.search import issue_pages as reading
from bot.search.indexer import Indexer
from bot.simulator.http.reply import Reply
from bot.simulator.rest import keyset
from bot.storage.repositories import Backfills, Progress
from tests.indexing.conftest import REPO, Host, on_one_database

pytestmark = pytest.mark.slow


@on_one_database
def test_all_issues_are_there_after_the_installation(host: Host) -> None:
    host.load(120)
    host.sim.open_issue(REPO, "ann", "A change", is_pull_request=True)
    host.sim.close_issue(REPO, 7, reason="not_planned")
    host.install()
    assert set(host.indexed()) == set(range(1, 121))
    assert (host.indexed()[7].state, host.indexed()[7].state_reason) == ("closed", "not_planned")
    assert host.found("part17x") == [17]
    progress = host.known_progress()
    assert host.services.indexing.ready(host.repo_id)
    assert (progress.seen, progress.expected, progress.done, progress.problem) == (120, 120, True, "")
    # A hundred on a page, and few of them twice.
    assert len(host.pages) == 2


@on_one_database
@pytest.mark.parametrize("code", [200, 502])
def test_what_cannot_be_counted_is_read_all_the_same(host: Host, code: int) -> None:
    """The number is for the progress alone, and GraphQL can fail over one repository for good."""
    host.load(120)
    if code == 200:
        host.sim.faults.add("POST /graphql", "graphql_error", code=code, times=None)
    else:
        host.sim.faults.add("POST /graphql", code, times=None)
    host.sim.install(REPO)
    host.work(6)
    assert host.services.indexing.ready(host.repo_id)
    progress = host.known_progress()
    assert (progress.seen, progress.expected, progress.problem) == (120, None, "")


@on_one_database
def test_it_is_done_in_steps_with_pauses(host: Host) -> None:
    host.load(520)
    host.install()
    assert len(host.indexed()) == 520
    assert [delay for delay in host.queue.delays if delay] == [1.0]


@on_one_database
@pytest.mark.parametrize("issues", [0, 3])
def test_what_has_not_changed_costs_a_look_one_count(
    host: Host, issues: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are no issues there is no place to go on at, as there is none before the first step."""
    host.load(issues)
    host.install()
    host.look()
    caplog.set_level(logging.INFO, "bot.search.indexer")
    counted, real = [], RepoClient.count_issues

    def count(*given: Any) -> int | None:
        counted.append(given)
        return real(*given)

    monkeypatch.setattr(RepoClient, "count_issues", count)
    host.look()
    assert host.pages[-1].unchanged and len(counted) == 1
    assert not [one.message for one in caplog.records if "reading its issues" in one.message]


@on_one_database
def test_who_begins_a_reading_a_moment_too_late_leaves_it_to_the_other(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.load(3)
    host.sim.install(REPO)
    real = Indexer._record_start

    def overtaken(self: Indexer, repo_id: int) -> Progress | None:
        host.note(Progress(updated_at=host.services.now()))
        return real(self, repo_id)

    monkeypatch.setattr(Indexer, "_record_start", overtaken)
    host.work()
    assert host.pages == []


@on_one_database
def test_why_it_stops_is_not_noted_over_what_somebody_else_has_come_to(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what was erased meanwhile would have a place to go on at again."""
    host.load(3)
    host.install()
    real = Backfills.get

    def then_erased(self: Backfills, repo_id: int) -> Progress | None:
        known = real(self, repo_id)
        monkeypatch.setattr(Backfills, "get", real)
        host.services.store.forget(repo_id)
        return known

    monkeypatch.setattr(Backfills, "get", then_erased)
    host.services.indexing.stop(host.repo_id, "no")
    assert host.progress() is None


@pytest.mark.parametrize("moment", ["before the issues", "before the note"])
def test_a_step_that_dies_in_the_middle_is_done_again_and_no_other(
    host: Host, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    host.load(520)
    host.sim.install(REPO)
    # The installation, then the first step.
    host.work(2)
    assert len(host.indexed()) == pytest.approx(500, abs=10)
    target, name = {
        "before the issues": (host.services.index, "put"),
        "before the note": (host.services.indexing, "_save_progress"),
    }[moment]
    event = host.queue.take()
    assert event is not None
    due, delivery_id, step = event
    with monkeypatch.context() as patch:

        def die(*arguments: object, **options: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(target, name, die)
        host.queue.back(due, delivery_id, step)
        with pytest.raises(KeyboardInterrupt):
            host.work(1)
    # What the queue does with the work of a dead worker.
    host.queue.back(due, delivery_id, step)
    host.work()
    assert len(host.indexed()) == 520
    assert host.services.indexing.ready(host.repo_id)
    steps = [one for one in host.queue.known if one.startswith("index:")]
    # Two, and what follows once when everything was read.
    assert sorted(one.rpartition(":")[2] for one in steps) == ["0", "1", "completed"]


def test_a_second_chain_leaves_the_first_alone_until_it_is_lost(host: Host) -> None:
    host.load(520)
    host.sim.install(REPO)
    host.work(2)
    lost = host.queue.take()
    assert lost is not None
    host.services.indexing.resync()
    host.work()
    assert len(host.pages) == reading.PAGES
    host.sim.clock.advance(reading.LOST)
    host.round()
    assert len(host.indexed()) == 520


def test_what_was_read_before_a_failure_is_kept(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.load(250)
    host.install_quietly()
    ask, answers = RepoClient.changed_issues, iter([True, True, False])

    def answer(*arguments: Any, **options: Any) -> ChangesPage:
        if not next(answers, True):
            raise Unavailable("list the issues: GitHub answered 502")
        return ask(*arguments, **options)

    monkeypatch.setattr(RepoClient, "changed_issues", answer)
    host.work(1)
    assert 190 <= len(host.indexed()) <= 200
    assert host.known_progress().problem == "list the issues: GitHub answered 502"
    host.work()
    assert len(host.indexed()) == 250
    progress = host.known_progress()
    assert (progress.done, progress.problem) == (True, "")


@on_one_database
def test_a_page_from_which_all_was_taken_is_not_the_end(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub cuts a list into pages first, and then takes off them what a spammer's account has written."""
    host.load(230, author="mallory")
    kept = host.sim.open_issue(REPO, "bob", "A real report about partx", "It says error.").number
    whole = keyset.page

    def page(*arguments: Any, **options: Any) -> Reply:
        reply = whole(*arguments, **options)
        return dataclasses.replace(reply, body=[one for one in reply.body if one["user"]["login"] != "mallory"])

    monkeypatch.setattr(keyset, "page", page)
    host.install_quietly()
    host.work(6)
    assert (host.services.indexing.ready(host.repo_id), set(host.indexed())) == (True, {kept})


@on_one_database
def test_a_rate_limit_is_waited_for(host: Host) -> None:
    host.load(150)
    host.sim.faults.add("GET /repos/acme/app/issues", "secondary_limit", retry_after=700)
    host.install()
    assert len(host.indexed()) == 150
    assert 700 <= max(host.queue.delays) <= 710


@on_one_database
def test_a_third_of_the_hours_requests_is_left_for_answers(host: Host) -> None:
    host.load(520)
    host.sim.limits.primary["core"] = (10, 3_600)
    host.install()
    assert len(host.indexed()) == 520
    assert max(host.queue.delays) > 3_000


@on_one_database
def test_c6_a_repository_that_is_off_is_not_read(host: Host) -> None:
    host.load(3)
    host.sim.write_file(REPO, ".github/doppel.yml", "mode: off")
    host.install()
    progress = host.progress()
    assert (host.indexed(), progress and progress.problem) == ({}, "its settings say mode: off")
    host.sim.write_file(REPO, ".github/doppel.yml", "mode: comment")
    host.round()
    assert len(host.indexed()) == 3
