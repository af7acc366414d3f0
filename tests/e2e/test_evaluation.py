"""An evaluation through the queue and the worker: asked for as the dashboard asks, and kept."""

from __future__ import annotations

import dataclasses

from bot.deliveries.events import EvaluationEvent
from bot.domain.entities import RepoRef
from bot.quality.evaluation.runs import EvaluationRuns, Stage
from tests.e2e.harness import Doppel


def test_an_evaluation_goes_through_the_queue(doppel: Doppel) -> None:
    running, runs = doppel.world.services, EvaluationRuns(doppel.services.store.engine)
    asked: list[tuple[str, Stage]] = []

    def evaluate(repo: RepoRef) -> str:
        asked.append((str(repo), runs.get(doppel.repository.id).run.stage))
        return ""

    doppel.world.services = dataclasses.replace(running, evaluate=evaluate)
    try:
        known = doppel.services.store.repositories.get(doppel.repository.id)
        assert known is not None and runs.begin(known.id, "by a test", doppel.services.now())
        event = EvaluationEvent(known.installation, known.summary, "by a test")
        doppel.services.inbox.put(event.delivery_id, event)
        doppel.settle()
    finally:
        doppel.world.services = running
    assert asked == [(doppel.repo, Stage.RUNNING)]
    assert runs.get(known.id).run.stage is Stage.DONE
