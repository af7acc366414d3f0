"""An evaluation through the queue and the worker: asked for as the dashboard asks, read from GitHub, kept."""

from __future__ import annotations

import dataclasses

from bot.evaluation.marks import Marks
from bot.evaluation.report import evaluate
from bot.evaluation.runs import Runs, Stage
from bot.events import EvaluationEvent
from tests.e2e.harness import Doppel

FOUND = evaluate([], issues=0, arrived=[], min_confidence=0.2)


def test_an_evaluation_goes_through_the_queue(doppel: Doppel) -> None:
    original = doppel.open("Pages come out blank", "The printer takes paper and prints nothing.")
    doppel.said(doppel.open("The moon is missing", "No phase is shown in the calendar.").number)
    doppel.sim.close_issue(doppel.repo, 2, "triage-person", "duplicate", original)
    doppel.settle()
    running, store = doppel.world.services, doppel.services.store
    doppel.world.services = dataclasses.replace(running, evaluate=lambda *_: FOUND)
    try:
        known = store.repositories.get(doppel.repository.id)
        run = Runs(store.engine).begin(doppel.repository.id, "by a test", doppel.services.now())
        assert known is not None and run is not None
        event = EvaluationEvent(known.installation, known.summary, run.chain)
        doppel.services.inbox.put(event.delivery_id, event)
        doppel.settle()
    finally:
        doppel.world.services = running
    kept = Runs(store.engine).get(doppel.repository.id)
    assert (kept.run.stage, kept.run.problem, kept.result) == (Stage.DONE, "", FOUND)
    assert [(number, said.closed_as_duplicate) for number, said in Marks(store.engine).said(known.id).items()] == [
        (2, True)
    ]
