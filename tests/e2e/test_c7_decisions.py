"""C7: what the bot decided is kept with its evidence, from the signed webhook to what a maintainer is shown."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.errors import Retryable
from handlers import advisory_comment as advice
from tests.e2e.harness import Doppel
from tests.e2e.judging import certain_from
from tests.e2e.reports import AGAIN, FIRST


def decisions(doppel: Doppel, number: int) -> list[Decision]:
    return doppel.services.store.decisions.of_issue(doppel.repository.id, number)


def told(doppel: Doppel, number: int) -> list[tuple[str, str, str, str]]:
    return [(one.cause, one.mode, one.outcome.value, one.reason) for one in decisions(doppel, number)]


def test_c7_each_look_is_kept_with_its_evidence_and_without_any_text(doppel: Doppel) -> None:
    doppel.open(*FIRST, author="ann")
    doppel.open("Dark mode for the settings page", "Please add it.")
    doppel.open(*AGAIN)
    doppel.said(3)
    assert told(doppel, 1) == [("opened", "comment", "silent", "nothing was found")]
    assert told(doppel, 2)[0][:3] == ("opened", "comment", "silent")
    (decision,) = decisions(doppel, 3)
    assert decision.outcome is DecisionOutcome.POSTED
    assert decision.threshold == 0.24
    best = decision.evidence[0]
    assert (best.number, best.rank, best.shown) == (1, 1, True)
    assert best.probability >= decision.threshold
    assert best.sources["full-text"] == 1
    assert set(best.sources) <= {"full-text", "vectors", "github-hybrid"}
    assert best.reasons
    stored = json.dumps(asdict(decision))
    assert not [word for word in ("Crash", "PDF", "PdfRenderError", "exporting") if word.lower() in stored.lower()]


def test_c7_an_edit_a_recheck_and_a_verdict_are_looks_of_their_own(pair: Doppel) -> None:
    pair.write(2, "/duplicates fresh")
    pair.write(2, "/duplicates not #1", "triage-person")
    pair.do.edit_issue(pair.repo, 2, title="Dark mode", body="Please add it.")
    pair.said(2)
    assert told(pair, 2) == [
        ("opened", "comment", "posted", ""),
        # Who asks is also told what the bot would have named unasked.
        ("command", "comment", "edited", ""),
        ("verdict", "comment", "edited", ""),
        ("edited", "comment", "edited", ""),
    ]
    assert [bool(one.shown) for one in decisions(pair, 2)] == [True, True, False, False]


@pytest.mark.parametrize("step", ["label", "note"])
def test_c7_a_look_that_ended_after_its_comment_was_written_is_brought_to_its_end(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """With the label, and the evidence that what people say of it is about."""
    certain_from(monkeypatch, 0.2)
    doppel.configure("label: add\n")
    doppel.read_before(*FIRST)
    do, calls = getattr(advice, step), list[Any]()

    def end_once(*arguments: Any, **options: Any) -> None:
        calls.append(arguments)
        if len(calls) == 1:
            raise Retryable("the worker ends here")
        do(*arguments, **options)

    monkeypatch.setattr(advice, step, end_once)
    doppel.open(*AGAIN)
    assert "#1]" in doppel.advice(2)
    assert told(doppel, 2) == [("opened", "comment", "posted", "")]
    assert [label.name for label in doppel.sim.issue(doppel.repo, 2).labels] == ["duplicate"]


def test_c7_silence_says_why(doppel: Doppel) -> None:
    doppel.configure("min_confidence: 1\nignore: {labels: [question]}\n")
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    doppel.open(*AGAIN, labels=["question"])
    assert doppel.said(2) == doppel.said(3) == []
    assert told(doppel, 2) == [("opened", "comment", "silent", "the best was below the threshold")]
    (silent,) = decisions(doppel, 2)
    assert silent.threshold == 1
    assert [(one.number, one.shown) for one in silent.evidence] == [(1, False)]
    # It is for a maintainer to judge whether silence was right, so that what both share is kept of it, too.
    assert "identifiers" in silent.evidence[0].reasons
    assert told(doppel, 3)[0] == ("opened", "comment", "left alone", "ignore.labels: question")


def test_c7_silence_while_githubs_search_is_away_says_what_the_index_found_too(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.sim.faults.add("GET /search/issues", 503, times=None)
    doppel.open("Paper size when exporting", "Please add A5.")
    assert told(doppel, 2)[0][3] == "the best was below the threshold, and not every search answered (github-hybrid)"


def test_c7_shadow_keeps_what_it_would_have_posted(doppel: Doppel) -> None:
    doppel.configure("mode: shadow\n")
    doppel.open(*FIRST, author="ann")
    doppel.open(*AGAIN)
    assert doppel.said(2) == []
    assert [told(doppel, number) for number in (1, 2)] == [
        [("opened", "shadow", "silent", "nothing was found")],
        [("opened", "shadow", "shadow", "")],
    ]
    assert [one.number for one in decisions(doppel, 2)[0].shown] == [1]


def test_c6a_decisions_go_with_the_issue_and_with_access(pair: Doppel) -> None:
    pair.said(2)
    assert decisions(pair, 2)
    pair.do.delete_issue(pair.repo, 2, "admin-person")
    assert decisions(pair, 2) == []
    pair.do.remove_from_installation(pair.repo)
    assert decisions(pair, 1) == []
