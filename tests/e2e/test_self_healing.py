"""What GitHub could not deliver is found and worked on once; what changed unheard is found in the index.

The bot is down, deliveries fail, the bot is back. Of an outage longer than GitHub keeps its deliveries the index still
learns everything; nobody is answered days late.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.domain.entities import Comment, RepoRef
from bot.github.repository import RepoClient
from bot.simulator.deliveries import Answer
from handlers.scheduled.redelivery import FIRST_WAIT, MAX_TRIES_IF_REFUSED, FailedDeliveries
from tests.e2e.harness import Doppel
from tests.e2e.reports import AGAIN, FIRST

DAY = 86_400.0
API = {True: "https://ghes.example/api/v3", False: "https://api.github.com"}


@pytest.fixture
def missed(doppel: Doppel) -> FailedDeliveries:
    """Of this test alone, whichever came before it: what others left undelivered is asked for here, and seen to be
    taken; what was refused more than once would be asked for only after a longer wait, and is forgotten.
    """
    missed = FailedDeliveries(doppel.services)
    heal(doppel, missed)
    if missed.failed:
        doppel.sim.clock.advance(FIRST_WAIT)
        heal(doppel, missed)
    for left in missed.failed.values():
        left.gone = True
    return missed


def heal(doppel: Doppel, missed: FailedDeliveries) -> None:
    """One turn of the chore, and all that follows from it."""
    missed.recover()
    doppel.settle()


@contextmanager
def answering(doppel: Doppel, status: int | None, *, first: bool = False) -> Iterator[None]:
    """Deliveries are answered with `status`, or time out; with `first` the receiver has taken them before that."""
    webhooks = doppel.sim.webhooks
    webhooks.join()
    post = webhooks.post

    def fail(url: str, body: bytes, headers: dict[str, str]) -> Answer:
        if first:
            post(url, body, headers)
        if status is None:
            raise TimeoutError
        return status, {}, ""

    webhooks.post = fail  # type: ignore[assignment]
    try:
        yield
        webhooks.join()
    finally:
        webhooks.post = post


def attempts(doppel: Doppel, number: int) -> list[str]:
    """The status of every attempt to deliver `issues.opened` of an issue."""
    return [
        one.status
        for one in doppel.sim.webhooks.log
        if (one.event, one.action, one.repository_id) == ("issues", "opened", doppel.repository.id)
        and one.payload["issue"]["number"] == number
    ]


@pytest.mark.parametrize("status", [503, None])
def test_a_delivery_that_failed_is_worked_on_once(doppel: Doppel, missed: FailedDeliveries, status: int | None) -> None:
    doppel.read_before(*FIRST)
    with answering(doppel, status):
        doppel.open(*AGAIN)
    assert doppel.said(2) == []
    heal(doppel, missed)
    assert "Crash while exporting to PDF" in doppel.advice(2)
    before = attempts(doppel, 2)
    assert before[-1] == "OK"
    assert len(before) == 2
    doppel.sim.clock.advance(FIRST_WAIT)
    heal(doppel, missed)
    assert attempts(doppel, 2) == before, "what was taken is not asked for again"
    # What `missed` gave up before the test is another test's.
    assert not [one for one in missed.failed.values() if not one.gone]


def test_a_delivery_that_github_has_no_more_keeps_no_other_from_coming(
    doppel: Doppel, missed: FailedDeliveries
) -> None:
    with answering(doppel, 503):
        doppel.open(*FIRST, author="ann")
        doppel.open("Dark mode for the settings page")
    doppel.sim.faults.add("POST /app/hook/deliveries/*/attempts", 404)
    heal(doppel, missed)
    outcomes = [attempts(doppel, number) for number in (1, 2)]
    assert sorted(one[-1] for one in outcomes) == ["Invalid HTTP Response: 503", "OK"]
    doppel.sim.clock.advance(FIRST_WAIT)
    heal(doppel, missed)
    assert [attempts(doppel, number) for number in (1, 2)] == outcomes, "what cannot be had is asked for once"


def test_an_answer_that_got_lost_makes_no_second_job(doppel: Doppel, missed: FailedDeliveries) -> None:
    doppel.read_before(*FIRST)
    with answering(doppel, None, first=True):
        doppel.open(*AGAIN)
    assert "Crash while exporting to PDF" in doppel.advice(2)
    searches = doppel.searches()
    heal(doppel, missed)
    again = [one for one in doppel.sim.webhooks.log if one.redelivery and one.action == "opened"][-1]
    assert '"known"' in again.response_body
    assert doppel.searches() == searches
    assert len(doppel.said(2)) == 1


def test_a_removal_that_was_missed_erases_nothing_of_what_was_added_again(
    doppel: Doppel, missed: FailedDeliveries
) -> None:
    """It is delivered at last, and later than what followed it."""
    verdicts, repo_id = doppel.services.store.verdicts, doppel.repository.id
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    doppel.write(2, "/duplicates not #1", "triage-person")
    assert len(doppel.said(2)) == 2
    with answering(doppel, 503):
        doppel.sim.remove_from_installation(doppel.repo)
    doppel.do.install(doppel.repo)
    heal(doppel, missed)
    assert verdicts.rejected(repo_id, 2) == {1}
    with answering(doppel, 503):
        doppel.sim.remove_from_installation(doppel.repo)
    heal(doppel, missed)
    doppel.sim.clock.advance(FIRST_WAIT)
    heal(doppel, missed)
    assert doppel.services.store.repositories.get(repo_id) is None
    assert verdicts.rejected(repo_id, 2) == set()


def test_what_somebody_has_redelivered_is_left_alone(doppel: Doppel, missed: FailedDeliveries) -> None:
    with answering(doppel, 502):
        doppel.open(*FIRST, author="ann")
    doppel.sim.webhooks.redeliver(doppel.sim.webhooks.log[-1])
    doppel.settle()
    heal(doppel, missed)
    assert attempts(doppel, 1) == ["Invalid HTTP Response: 502", "OK"]


def test_while_the_receiver_stays_away_it_is_asked_for_ever_more_seldom(
    doppel: Doppel, missed: FailedDeliveries
) -> None:
    with answering(doppel, 503):
        doppel.open(*FIRST, author="ann")
        for wait in (0.0, FIRST_WAIT / 2, FIRST_WAIT / 2, 2 * FIRST_WAIT, 2 * FIRST_WAIT):
            doppel.sim.clock.advance(wait)
            heal(doppel, missed)
    assert len(attempts(doppel, 1)) == 1 + 3
    doppel.sim.clock.advance(3 * DAY)
    heal(doppel, missed)
    assert not missed.failed, "GitHub itself has forgotten it"
    assert len(attempts(doppel, 1)) == 1 + 3


@pytest.mark.parametrize("enterprise", [True, False])
def test_g_an_enterprise_server_is_asked_for_what_it_keeps_longer(
    doppel: Doppel, missed: FailedDeliveries, monkeypatch: pytest.MonkeyPatch, enterprise: bool
) -> None:
    """Seven days; on github.com, where this one lists them as long, nobody is answered for what is older than three."""
    monkeypatch.setattr(doppel.sim.webhooks, "retention", timedelta(days=7))
    settings = doppel.services.settings.model_copy(update={"github_api_url": API[enterprise]})
    services = replace(doppel.services, settings=settings)
    with answering(doppel, 503):
        doppel.open(*FIRST, author="ann")
    doppel.sim.clock.advance(5 * DAY)
    heal(doppel, FailedDeliveries(services))
    assert attempts(doppel, 1)[1:] == (["OK"] if enterprise else [])


def test_a_payload_that_is_refused_is_not_asked_for_without_end(doppel: Doppel, missed: FailedDeliveries) -> None:
    with answering(doppel, 400):
        doppel.open(*FIRST, author="ann")
        for turn in range(6):
            doppel.sim.clock.advance(DAY / 4)
            # A worker that has just started reads on GitHub's list what others have asked for.
            heal(doppel, missed if turn < 3 else FailedDeliveries(doppel.services))
    assert len(attempts(doppel, 1)) == 1 + MAX_TRIES_IF_REFUSED


def test_what_was_refused_for_a_wrong_secret_is_taken_when_the_secret_is_mended(
    doppel: Doppel, missed: FailedDeliveries
) -> None:
    """However long nobody noticed; a payload that is refused is given up sooner."""
    doppel.read_before(*FIRST)
    right = doppel.sim.app.hook.secret
    doppel.sim.app.hook.secret = "another secret than the receiver's"
    doppel.do.open_issue(doppel.repo, "bob", *AGAIN)
    for _ in range(4):
        doppel.sim.clock.advance(DAY / 4)
        heal(doppel, missed)
    assert set(attempts(doppel, 2)) == {"Invalid HTTP Response: 401"}
    assert len(attempts(doppel, 2)) <= 1 + 4
    doppel.sim.app.hook.secret = right
    doppel.sim.clock.advance(DAY / 4)
    heal(doppel, missed)
    assert attempts(doppel, 2)[-1] == "OK"
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_a_long_outage_is_read_page_by_page(doppel: Doppel, missed: FailedDeliveries) -> None:
    doppel.read_before(*FIRST)
    began = len(doppel.sim.webhooks.log)
    with answering(doppel, 503):
        for number in range(105):
            # What bots write needs no work, so that this is about delivering alone.
            doppel.sim.comment(doppel.repo, 1, "other[bot]", f"Thought number {number}")
    heal(doppel, missed)
    outcomes: dict[str, list[str]] = {}
    for one in doppel.sim.webhooks.log[began:]:
        outcomes.setdefault(one.guid, []).append(one.status)
    assert list(outcomes.values()) == [["Invalid HTTP Response: 503", "OK"]] * 105


def test_c2_after_a_longer_outage_the_index_has_everything_and_nobody_is_answered_late(
    doppel: Doppel, missed: FailedDeliveries
) -> None:
    """Beyond what GitHub keeps, an issue opened in the outage is indexed and not answered: after days of silence people
    have dealt with it, and hundreds of comments at once would be noise. `/duplicates` on it still answers."""
    doppel.open("Dark mode for the settings page", author="ann")
    with answering(doppel, 503):
        doppel.open(*FIRST, author="ann")
        doppel.open(*AGAIN, author="bob")
        doppel.sim.edit_issue(doppel.repo, 1, title="Dark mode everywhere")
    doppel.sim.clock.advance(3 * DAY + 3600)
    heal(doppel, missed)
    assert len(attempts(doppel, 2)) == 1
    doppel.resync()
    doppel.settle()
    assert doppel.services.index.count(doppel.repository.id) == 3
    assert doppel.said(3) == []
    doppel.write(3, "/duplicates", "bob")
    assert "Crash while exporting to PDF" in doppel.advice(3)
    doppel.open("Everywhere a dark mode", author="carol")
    assert "Dark mode everywhere" in doppel.advice(4)


def test_c2_a_database_restored_from_an_older_backup_catches_up_and_says_nothing_twice(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    store, repo_id = doppel.services.store, doppel.repository.id
    backfills = store.backfills
    backup = backfills.get(repo_id)
    assert backup is not None
    doppel.open(*AGAIN, author="bob")
    assert "Crash while exporting to PDF" in doppel.advice(2)
    # Nothing of the second issue was there yet.
    doppel.services.indexing.remove(repo_id, 2)
    store.forget_issue(repo_id, 2)
    backfills.set(repo_id, backup)
    doppel.sim.clock.advance(1800)
    doppel.resync()
    doppel.settle()
    assert doppel.services.index.count(repo_id) == 2
    doppel.do.edit_issue(doppel.repo, 2, title="Exporting to PDF crashes each time")
    assert len(doppel.said(2)) == 1, "its own comment was found by its marker"
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_c2_what_was_silent_when_the_backup_was_made_and_has_spoken_since_is_not_answered_twice(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.open("Dark mode everywhere", author="bob")
    doppel.do.edit_issue(doppel.repo, 2, title=AGAIN[0], body=AGAIN[1])
    assert "Crash while exporting to PDF" in doppel.advice(2)
    (comment,) = doppel.sim.comments(doppel.repo, 2)
    # What the row said before the comment was written.
    doppel.services.store.comments.mark_removed(doppel.repository.id, 2, comment.id)
    doppel.do.edit_issue(doppel.repo, 2, title="Exporting to PDF crashes each time")
    assert len(doppel.said(2)) == 1, "its own comment was found by its marker"


def test_c5_a_command_costs_no_listing_of_what_was_written_before_it(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An issue can have 2,500 comments: twenty-five requests for each command that a stranger writes."""
    read: list[int] = []
    comments = RepoClient.comments

    def counted(self: RepoClient, repo: RepoRef, number: int, since: datetime | None = None) -> list[Comment]:
        found = comments(self, repo, number, since)
        read.append(len(found))
        return found

    monkeypatch.setattr(RepoClient, "comments", counted)
    doppel.read_before(*FIRST)
    for _ in range(5):
        doppel.write(1, "So it is here.")
    doppel.sim.clock.advance(60)
    comment = doppel.write(1, "/duplicates help")
    doppel.edit(comment, "/duplicates explain #7")
    assert len(doppel.said(1)) == 1
    assert read == [1], "the command itself"


def test_c2_a_command_is_answered_once_though_all_was_erased_after_its_first_answer(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    comment = doppel.write(1, "/duplicates help")
    assert len(doppel.said(1)) == 1
    doppel.do.uninstall(doppel.owner)
    doppel.do.install(doppel.repo)
    doppel.edit(comment, "/duplicates explain #7")
    (reply,) = doppel.said(1)
    assert "There is no issue" in reply


def test_what_was_accepted_is_not_dropped_while_github_does_not_know_a_new_token(doppel: Doppel) -> None:
    """Its servers learn of a token one after the other, and a 401 then says nothing of our access."""
    doppel.open(*FIRST)
    fault = doppel.sim.faults.add("GET /repos/*/issues/2", 401, times=3)
    doppel.open(*AGAIN)
    assert fault.hits == 3
    assert "#1" in doppel.advice(2)
