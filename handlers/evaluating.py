"""The dashboard's evaluation, in steps of the background queue: what was said of duplicates is read from GitHub a few
pages at a time, then the repository's past is replayed in a process of its own (docs/evaluate.md).
"""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import chain, islice

from bot.calibration.bar import bar_in_force
from bot.errors import Forbidden, NotFound, Retryable
from bot.evaluation.apart import NothingToJudge
from bot.evaluation.former import former_names
from bot.evaluation.history import said_of
from bot.evaluation.marks import Marks
from bot.evaluation.runs import Runs, Stage
from bot.events import EvaluationEvent
from bot.services import Services
from bot.store import StoredRepository
from bot.store.database.failures import passes

logger = logging.getLogger(__name__)

#: Pages of fifty issues that are read in one step, and the seconds of rest after it.
AT_ONCE, REST = 4, 1.0


def go_on(event: EvaluationEvent, services: Services) -> None:
    """One step, as long as the repository is ours and nobody has begun anew since."""
    runs, repo_id = Runs(services.store.engine), event.repository.id
    known = services.store.repositories.get(repo_id)
    run = runs.run(repo_id)
    if known is None or run.chain != event.chain or not run.stage.runs:
        return
    try:
        if services.settings.paused or known.suspended:
            _end(services, event, "the bot is paused here")
        elif event.replay:
            _replay(event, known, services)
        else:
            _read(event, known, services)
    except (NotFound, Forbidden) as refusal:
        _end(services, event, f"GitHub refuses to show the history ({refusal.status})")
    except Retryable as failure:
        # The queue tries again; what was read is kept.
        runs.note(repo_id, event.chain, services.now(), problem=str(failure))
        raise
    except Exception as failure:
        if passes(failure):
            # The database is away or full, and nothing is wrong with what was asked of it. What was read is kept.
            raise
        _end(services, event, "a fault of Doppel's, of which the worker's log tells")
        raise


def _read(event: EvaluationEvent, known: StoredRepository, services: Services) -> None:
    """Some pages of what was said, and then the next step; each page is kept before the next is asked for."""
    runs, marks = Runs(services.store.engine), Marks(services.store.engine)
    github = services.github.in_repository(services.installation_of(known), known.id)
    read, after = event.read, ""
    for page in islice(github.history(known.ref, event.since, event.after, texts=False), AT_ONCE):
        marks.put(known.id, {node["number"]: said_of(node, known.ref) for node in page.issues})
        read, after = read + len(page.issues), page.after
        newest = {"read_until": page.issues[-1]["updatedAt"]} if page.issues else {}
        total = max(read, page.total)
        runs.note(known.id, event.chain, services.now(), done=read, total=total, problem="", **newest)
    if not after:
        said = chain.from_iterable(one.statements for one in marks.said(known.id).values())
        marks.bring_home(known.id, former_names(github, known.id, said))
    following = replace(event, step=event.step + 1, after=after, read=read, replay=not after)
    services.inbox.put(following.delivery_id, following, REST if after else 0.0)


def _replay(event: EvaluationEvent, known: StoredRepository, services: Services) -> None:
    """Let the repository's past arrive once more, and keep the figures."""
    runs = Runs(services.store.engine)
    runs.note(known.id, event.chain, services.now(), stage=Stage.REPLAYING, done=0, total=0, problem="")
    config = services.repository_settings.last_read(known.id)
    bar = bar_in_force(config, services.store.calibrations.get(known.id))

    def tell(done: int, total: int) -> None:
        runs.note(known.id, event.chain, services.now(), done=done, total=total)

    try:
        result = services.evaluate(known.id, known.ref, bar.value, tell)
    except NothingToJudge as reason:
        _end(services, event, str(reason), Stage.DONE)
        return
    runs.keep(known.id, result, services.now())
    _end(services, event, "", Stage.DONE)


def _end(services: Services, event: EvaluationEvent, problem: str, stage: Stage = Stage.FAILED) -> None:
    runs = Runs(services.store.engine)
    runs.note(event.repository.id, event.chain, services.now(), stage=stage, problem=problem)
    logger.info("the evaluation of %s has ended%s", event.repository.ref, f": {problem}" if problem else "")
