"""The dashboard's evaluation: `doppel evaluate` in a process of its own, which keeps its result itself."""

from __future__ import annotations

import logging

from bot.deliveries.events import EvaluationEvent
from bot.domain.errors import Retryable
from bot.quality.evaluation.history import erase_history
from bot.quality.evaluation.runs import EvaluationRuns, Stage
from bot.storage.files import sqlite_file
from handlers.services import Services

logger = logging.getLogger(__name__)


def run(event: EvaluationEvent, services: Services) -> None:
    """Do it, if the repository is still ours and nobody has asked anew since."""
    runs, repo_id = EvaluationRuns(services.store.engine), event.repository.id
    known, asked = services.store.repositories.get(repo_id), runs.get(repo_id).run
    if known is None or asked.chain != event.chain or not asked.stage.runs:
        return
    if services.settings.paused or known.suspended:
        runs.note(repo_id, event.chain, Stage.FAILED, "the bot is paused here")
        return
    runs.note(repo_id, event.chain, Stage.RUNNING)
    try:
        # Whoever may triage reads it, and need not learn where the host keeps its files.
        problem = services.evaluate(known.ref).replace(str(services.settings.home), "DOPPEL_HOME")
    except Retryable as failure:
        # The queue tries again.
        runs.note(repo_id, event.chain, Stage.RUNNING, str(failure))
        raise
    except Exception:
        runs.note(repo_id, event.chain, Stage.FAILED, "a fault of Doppel's, of which the worker's log tells")
        raise
    finally:
        # Access may have ended meanwhile (C6a). Where workers are on several machines, it may end on another one.
        if services.store.repositories.get(repo_id) is None or sqlite_file(services.settings.database_url) is None:
            erase_history(services.settings.home, repo_id)
    runs.note(repo_id, event.chain, Stage.FAILED if problem else Stage.DONE, problem)
    logger.info("the evaluation of %s has ended%s", known.ref, f": {problem}" if problem else "")
