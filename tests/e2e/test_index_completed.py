"""What came while the index was being filled, and for which nothing was found: it is looked at again afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from bot.app.wiring.indexes import fill_index
from bot.deliveries.events import INDEXED, own_issue_event
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import RepoRef
from bot.domain.report import Evidence
from bot.search.finder import Finder
from bot.storage.repositories import Progress
from handlers import context as finding
from handlers.answered import without_candidates
from tests.e2e.harness import Doppel

SAID = "Exporting raises `PdfRenderError: page 7 of invoiceSheet`."
# There are no pull requests to be found.
UNSEARCHED = "sources: {github-hybrid: off, github-search: off, pull-requests: on}\n"


@pytest.fixture
def filling(doppel: Doppel) -> Doppel:
    """A repository of which one issue was read, and not everything, and where searches find nothing."""
    doppel.configure(UNSEARCHED)
    doppel.read_before("Crash while exporting to PDF", SAID)
    doppel.services.store.backfills.set(doppel.repository.id, Progress())
    return doppel


def causes(doppel: Doppel, number: int) -> list[str]:
    decisions = doppel.services.store.decisions.of_issue(doppel.repository.id, number)
    return [one.cause for one in decisions]


def test_where_the_search_said_nothing_the_index_is_asked_once_it_is_complete(filling: Doppel) -> None:
    filling.open("Export to PDF broken since today", SAID, author="ben")
    filling.open("The logo is too small on the page of invoices", "It cannot be read.", author="cleo")
    gone = filling.open("Exporting to PDF is impossible", SAID, author="dan").number
    filling.do.close_issue(filling.repo, gone)
    assert filling.said(2) == filling.said(3) == filling.said(gone) == []
    assert not filling.services.indexing.ready(filling.repository.id)
    filling.resync()
    filling.settle()
    (comment,) = filling.said(2)
    assert "- `#1` – found by: the full-text index, the semantic index" in comment
    assert filling.said(3) == filling.said(gone) == []
    assert causes(filling, 2) == causes(filling, 3) == ["opened", "indexed"]
    # That is done once, and not for what came later.
    filling.open("Another logo, please", "It looks like that of others.", author="eve")
    filling.resync()
    filling.settle()
    assert causes(filling, 2) == ["opened", "indexed"]
    assert causes(filling, 5) == ["opened"]


def test_what_the_search_has_told_stands_when_the_index_is_complete(filling: Doppel) -> None:
    filling.configure("sources: {github-hybrid: off}\nmin_confidence: 0.0")
    filling.open("Crash while exporting to PDF", SAID, author="ben")
    before = filling.said(2)
    assert len(before) == 1
    filling.resync()
    filling.settle()
    assert filling.said(2) == before
    assert causes(filling, 2) == ["opened"]


def complete(filling: Doppel) -> None:
    """The worker reads everything, and does what there is to do then."""
    filling.resync()
    filling.settle()
    assert filling.services.indexing.ready(filling.repository.id)


NEW = "Export to PDF broken since today"
FOUND = "- `#1` – found by: the full-text index, the semantic index"
WIP = f"{UNSEARCHED}ignore: {{labels: [wip]}}\n"


def test_it_is_looked_at_again_too_where_doppel_scan_has_completed_the_index(filling: Doppel) -> None:
    filling.open(NEW, SAID, author="ben")
    told: list[Progress] = []
    repo = RepoRef.parse(filling.repo)
    fill_index(filling.world.settings, filling.services.store, repo, lambda seconds: None, told.append)
    assert told[-1].done
    filling.settle()
    assert FOUND in filling.said(2)[0]


def test_who_asked_while_it_was_filled_and_was_told_of_nothing_is_told_what_the_index_has(filling: Doppel) -> None:
    filling.open(NEW, SAID, author="ben")
    filling.write(2, "/duplicates", "ben")
    assert "No earlier issue that looks like this one was found." in filling.advice(2)
    complete(filling)
    assert FOUND in filling.said(2)[0]
    assert causes(filling, 2) == ["opened", "command", "indexed"]


def test_the_answer_to_words_that_somebody_searched_for_stays_where_the_index_has_no_more(filling: Doppel) -> None:
    filling.configure("sources: {github-hybrid: off}")
    filling.open("The logo is too small on the page of invoices", "It cannot be read.", author="cleo")
    filling.write(2, "/duplicates search blurred watermark", "ben")
    before = filling.said(2)
    assert "blurred watermark" in before[0]
    complete(filling)
    assert filling.said(2) == before
    assert causes(filling, 2) == ["opened", "command", "indexed"]


def test_who_was_answered_while_the_look_waited_keeps_the_answer(filling: Doppel) -> None:
    filling.configure("sources: {github-hybrid: off}")
    filling.open(NEW, SAID, author="ben")
    filling.write(2, "/duplicates all confidence=0.0", "ben")
    before = filling.said(2)
    known = filling.known
    event = own_issue_event(INDEXED, known.installation, known.summary, 2)
    filling.services.inbox.put("one that waited", event)
    filling.settle()
    assert filling.said(2) == before
    assert causes(filling, 2) == ["opened", "command"]


@pytest.mark.parametrize("between", ["closed", "labelled", "locked"])
def test_what_could_not_be_looked_at_then_is_looked_at_as_soon_as_it_can(filling: Doppel, between: str) -> None:
    filling.configure(WIP)
    filling.open(NEW, SAID, author="ben")
    if between == "closed":
        filling.sim.close_issue(filling.repo, 2)
    elif between == "locked":
        filling.sim.lock_issue(filling.repo, 2, "triage-person")
    else:
        filling.sim.create_label(filling.repo, "wip")
        filling.sim.add_labels(filling.repo, 2, "wip", actor="triage-person")
    filling.settle()
    complete(filling)
    assert filling.said(2) == []
    if between == "closed":
        filling.sim.reopen_issue(filling.repo, 2, "triage-person")
    elif between == "locked":
        filling.sim.unlock_issue(filling.repo, 2, "triage-person")
    else:
        filling.sim.remove_label(filling.repo, 2, "wip", "triage-person")
    filling.settle()
    assert FOUND in filling.said(2)[0]


def test_each_filling_has_its_own_looks(filling: Doppel) -> None:
    """An index that is filled anew within days finds the names of the first looks still in the queue."""
    filling.open("The logo is too small on the page of invoices", "It cannot be read.", author="cleo")
    complete(filling)
    filling.services.store.backfills.set(filling.repository.id, Progress())
    filling.sim.clock.advance(1800)
    complete(filling)
    assert causes(filling, 2) == ["opened", "indexed", "indexed"]


def look(number: int, outcome: DecisionOutcome, *named: int, at: float = 0.0) -> Decision:
    """A look at an issue that named these."""
    return Decision(
        number, at, "opened", "comment", outcome, 0.2, "", tuple(Evidence(one, 0.5, 1, True) for one in named)
    )


@pytest.mark.parametrize(
    ("looks", "numbers"),
    [
        ([], []),
        ([look(7, DecisionOutcome.SILENT), look(5, DecisionOutcome.SILENT)], [5, 7]),
        ([look(5, DecisionOutcome.SILENT), look(5, DecisionOutcome.POSTED, 3)], []),
        ([look(5, DecisionOutcome.POSTED, 3), look(5, DecisionOutcome.EDITED)], [5]),
        ([look(5, DecisionOutcome.SILENT), look(5, DecisionOutcome.LEFT_ALONE)], [5]),
        ([look(5, DecisionOutcome.SHADOW, 3), look(5, DecisionOutcome.LEFT_ALONE)], []),
        ([look(5, DecisionOutcome.LEFT_ALONE)], []),
    ],
)
def test_without_candidates_is_what_the_last_look_named_nothing_for(looks: list[Decision], numbers: list[int]) -> None:
    assert [one.number for one in without_candidates(looks)] == numbers


def test_as_many_issues_are_reckoned_with_while_it_is_filled_as_github_has_counted(
    filling: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The issue's own number counts pull requests as well."""
    told: list[int | None] = []

    def finder(*arguments: Any, issues: int | None, **options: Any) -> Finder:
        told.append(issues)
        return Finder(*arguments, issues=issues, **options)

    monkeypatch.setattr(finding, "Finder", finder)
    filling.services.store.backfills.set(filling.repository.id, Progress(seen=1, expected=3))
    filling.open(NEW, SAID, author="ben")
    assert set(told) == {3}
