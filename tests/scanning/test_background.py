"""`/duplicates scan` in the background: small steps with rests, taken up after a kill, ended with the access (D8)."""

from __future__ import annotations

import pytest

from bot.conversation.messages.catalogue import english
from bot.deliveries.events import ScanEvent
from bot.domain.entities import Issue, RepoRef
from bot.domain.errors import Unavailable
from bot.github.repository import RepoClient
from bot.quality.scanning.scan import BacklogMatcher
from bot.storage.repositories import Progress
from handlers import background as scanning
from tests.indexing.conftest import REPO, Host, host, on_one_database

__all__ = ["host"]

CRASH = "The log says: ERROR exporter could not write page_table: disk 7 is gone"


@pytest.fixture
def filled(host: Host, monkeypatch: pytest.MonkeyPatch) -> Host:
    """Eight issues in the index, of which the last repeats the first; steps of three issues."""
    monkeypatch.setattr(scanning, "ISSUES_PER_STEP", 3)
    host.sim.open_issue(REPO, "ann", "Exporting albums fails", CRASH)
    host.load(6)
    host.sim.open_issue(REPO, "bob", "Exporting albums fails again", CRASH)
    host.install()
    host.sim.set_permission(REPO, "mia", "maintain")
    host.queue.delays.clear()
    return host


def ask(host: Host) -> None:
    host.sim.comment(REPO, 2, "mia", "/duplicates scan")


def shown(host: Host) -> list[str]:
    issues = host.sim.issues_of(host.sim.repository(REPO))
    bodies = [issue.body for issue in issues if issue.title == english().scan_title()]
    assert None not in bodies
    return [body for body in bodies if body is not None]


def answer(host: Host) -> str:
    return next(one.body for one in reversed(host.sim.comments(REPO, 2)) if one.author.login.endswith("[bot]"))


@pytest.mark.slow
@on_one_database
def test_d8_it_is_done_in_steps_with_rests(filled: Host) -> None:
    ask(filled)
    filled.work()
    (body,) = shown(filled)
    assert "1. [#1]" in body
    assert "   - [#8]" in body
    # The first step at once, and a rest after each three issues; then comes the event of the new issue.
    assert filled.queue.delays[-5:] == [0.0, *[scanning.PAUSE] * 3, 0.0]


@pytest.mark.slow
def test_d8_a_worker_that_dies_in_a_step_asks_nothing_twice(filled: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = BacklogMatcher.ask

    def counting(self: BacklogMatcher, repo_id: int, numbers: list[int]) -> object:
        asked.extend(numbers)
        return real(self, repo_id, numbers)

    monkeypatch.setattr(BacklogMatcher, "ask", counting)
    ask(filled)
    # The command and two steps, the second of which is done again, as by a worker that died before it could say so.
    filled.work(2)
    taken = filled.queue.take()
    assert taken is not None
    due, delivery_id, event = taken
    assert isinstance(event, ScanEvent)
    filled.queue.back(due, delivery_id, event)
    filled.work(1)
    filled.queue.back(due, delivery_id, event)
    filled.work()
    assert sorted(asked) == list(range(1, 9))
    assert len(shown(filled)) == 1


@pytest.mark.slow
def test_d8_what_changes_while_others_are_asked_about_is_shown_as_it_was_found(filled: Host) -> None:
    """As where vectors come for all of them meanwhile: each of those counts as a change."""
    ask(filled)
    filled.work(4)
    for number in range(1, 6):
        filled.sim.edit_issue(REPO, number, body=f"{CRASH}, and so is disk {number}." if number == 1 else "Edited.")
    filled.work()
    (body,) = shown(filled)
    assert "1. [#1]" in body
    assert "   - [#8]" in body


@pytest.mark.slow
def test_d8_an_unanswered_opening_is_looked_for_before_another(filled: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    real = RepoClient.create_issue

    def lost(self: RepoClient, repo: RepoRef, title: str, body: str) -> Issue:
        real(self, repo, title, body)
        raise Unavailable("open an issue: GitHub did not answer in time")

    monkeypatch.setattr(RepoClient, "create_issue", lost)
    ask(filled)
    filled.work(4)
    taken = filled.queue.take()
    assert taken is not None
    filled.queue.back(*taken)
    with pytest.raises(Exception, match="did not answer in time"):
        filled.work(1)
    assert len(shown(filled)) == 1
    filled.queue.back(*taken)
    with pytest.raises(Exception, match="another attempt"):
        filled.work(1)
    filled.sim.clock.advance(60)
    filled.queue.back(*taken)
    filled.work()
    assert len(shown(filled)) == 1
    kept = filled.services.store.scan_issues.get(filled.repo_id)
    assert kept is not None
    assert kept.number == 9


@pytest.mark.slow
@on_one_database
def test_an_attempt_from_before_the_clock_was_set_back_keeps_nobody_waiting(filled: Host) -> None:
    later = filled.services.now() + 86_400
    filled.services.store.scan_issues.set(filled.repo_id, None, later)
    ask(filled)
    filled.work()
    assert len(shown(filled)) == 1


def test_d8_before_all_issues_are_read_it_says_so(filled: Host) -> None:
    filled.note(Progress(seen=5, expected=8))
    ask(filled)
    filled.work()
    assert "I am still reading this repository's issues (5 of about 8)." in answer(filled)
    assert shown(filled) == []


@pytest.mark.slow
def test_d8_a_repository_that_is_off_gets_no_issue(filled: Host) -> None:
    ask(filled)
    filled.work(1)
    filled.sim.write_file(REPO, ".github/doppel.yml", "mode: off\n")
    filled.services.repository_settings.forget(filled.services.store.repositories.list()[0].summary)
    filled.work()
    assert shown(filled) == []


@pytest.mark.slow
def test_c6a_a_scan_ends_with_the_access(filled: Host) -> None:
    ask(filled)
    filled.work(2)
    filled.sim.uninstall(REPO.partition("/")[0])
    filled.work()
    assert shown(filled) == []
    assert filled.services.store.scan_issues.get(filled.repo_id) is None
