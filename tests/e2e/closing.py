"""`close_after` in the tests: an issue whose comment announces that it may be closed, and what people say to that."""

from __future__ import annotations

import uuid

import pytest

from bot.events.own import DUE, own_issue_event
from bot.simulator.state.issues import Comment, Issue
from handlers.closing.closing import call_for_due
from handlers.closing.rule import DAY
from tests.e2e.harness import BOT, Doppel
from tests.e2e.judging import certain_from

TITLE = "Crash while exporting a page to PDF"
BODY = "Exporting raises `PdfRenderError: page 7 has no boundary box` in renderPdfPage since 3.2."
OFFER = (
    "If the author gives this comment a 👍, or somebody with triage access adds the `duplicate` label, this issue is "
    "closed in favour of [#1](https://redirect.github.com/acme/app/issues/1) after 7 days. A 👎 or a comment from "
    "anybody prevents that."
)
ON_VOTE = (
    "If the author gives this comment a 👍, this issue is closed in favour of "
    "[#1](https://redirect.github.com/acme/app/issues/1) after 7 days. A 👎 or a comment from anybody prevents that."
)


@pytest.fixture
def offered(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> Doppel:
    """Issue #2 repeats #1, and its comment announces that it may be closed."""
    certain_from(monkeypatch, 0.2)
    doppel.configure("close_after: 7d\n")
    doppel.open(TITLE, BODY, author="ann")
    doppel.open(TITLE, BODY)
    assert OFFER in doppel.advice(2)
    return doppel


def comment(doppel: Doppel) -> Comment:
    return next(one for one in doppel.sim.comments(doppel.repo, 2) if one.author.login == BOT)


def later(doppel: Doppel, days: float = 7.5) -> Issue:
    """Some days pass, and the schedule has looked; the issue as it is then."""
    doppel.sim.clock.advance(days * DAY)
    doppel.turn(call_for_due)
    doppel.settle()
    doppel.said(2)
    return doppel.sim.issue(doppel.repo, 2)


def look_again(doppel: Doppel) -> None:
    """The look of an earlier turn is done again, as after a worker's end."""
    known = doppel.services.store.repositories.get(doppel.repository.id)
    assert known is not None
    event = own_issue_event(DUE, known.installation, known.summary, 2)
    doppel.services.inbox.put(f"{DUE}-{known.id}-2-{uuid.uuid4()}", event)
    doppel.settle()


def agree(doppel: Doppel) -> None:
    # As with the label below: what is said in the second of the announcement may have been said before it.
    doppel.sim.clock.advance(2)
    doppel.sim.react(comment(doppel), "reporter", "+1")
