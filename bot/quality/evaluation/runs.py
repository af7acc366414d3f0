"""Stores each repository's newest evaluation, and the state of a run that somebody started on the dashboard."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from bot.quality.evaluation.figures import Evaluation
from bot.storage.engine import TableGateway, write
from bot.storage.schema import evaluations as table

DAY, SOON, LOST = 86_400.0, 600.0, 8 * 3600.0
"""Seconds from the click until a repository can be evaluated again: after a successful run (DAY), after a failed run
(SOON), and after a run that never reported its end (LOST)."""

_evaluation: TypeAdapter[Evaluation] = TypeAdapter(Evaluation)


class Stage(StrEnum):
    """The state of a run. `NONE`: nobody started a run on the dashboard. Runs on the command line have no state."""

    NONE = "none"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"

    @property
    def is_active(self) -> bool:
        return self in (Stage.WAITING, Stage.RUNNING)


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """`chain` names the run; `problem` says why the run is delayed or failed; `asked_at`: Unix time."""

    stage: Stage = Stage.NONE
    chain: str = ""
    asked_at: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """The state of the run, and the newest result with its time, if there is a result."""

    run: EvaluationRun
    result: Evaluation | None = None
    made_at: float | None = None


def seconds_until_allowed(run: EvaluationRun, now: float) -> float:
    """Seconds until this repository may be evaluated again; 0 means now. Pure.

    A repository has one run at a time and at most one a day. A failed run may be repeated sooner.
    """
    if run.stage is Stage.NONE:
        return 0.0
    wait = {Stage.DONE: DAY, Stage.FAILED: SOON}.get(run.stage, LOST)
    # If `asked_at` is too far in the future, the clock was set back: do not wait.
    return 0.0 if run.asked_at > now + wait else max(0.0, run.asked_at + wait - now)


class EvaluationRuns(TableGateway):
    """The `evaluations` table. Safe to share between threads and processes."""

    def get(self, repo_id: int) -> StoredEvaluation:
        """The stored run and result. Leaves out a result that this version cannot read."""
        row = self._first(sa.select(table).where(table.c.repo_id == repo_id))
        if row is None:
            return StoredEvaluation(EvaluationRun())
        try:
            return StoredEvaluation(_run(row), _evaluation.validate_json(row.result or ""), row.made_at)
        except ValidationError:
            # There is no result (the empty text is invalid), or another version wrote the result.
            return StoredEvaluation(_run(row))

    def begin(self, repo_id: int, chain: str, now: float) -> bool:
        """Store a waiting run; False if none is allowed yet. Of two simultaneous calls, only one returns True."""
        insert = self._insert(table).values(repo_id=repo_id, **asdict(EvaluationRun()))
        with write(self._engine) as connection:
            # Simultaneous calls take turns by locking the row, so first insert a missing row.
            connection.execute(insert.on_conflict_do_nothing())
            row = connection.execute(sa.select(table).where(table.c.repo_id == repo_id).with_for_update()).one()
            if seconds_until_allowed(_run(row), now):
                return False
            asked = asdict(EvaluationRun(Stage.WAITING, chain, now))
            connection.execute(sa.update(table).where(table.c.repo_id == repo_id).values(asked))
        return True

    def note(self, repo_id: int, chain: str, stage: Stage, problem: str = "") -> None:
        """Store the state of a run, unless a newer run has begun."""
        where = sa.and_(table.c.repo_id == repo_id, table.c.chain == chain)
        self._change(sa.update(table).where(where).values(stage=stage, problem=problem))

    def put(self, repo_id: int, result: Evaluation, now: float) -> None:
        made = {"result": _evaluation.dump_json(result).decode(), "made_at": now}
        insert = self._insert(table).values(repo_id=repo_id, **asdict(EvaluationRun()), **made)
        self._change(insert.on_conflict_do_update(index_elements=["repo_id"], set_=made))


def _run(row: Any) -> EvaluationRun:
    return EvaluationRun(Stage(row.stage), row.chain, row.asked_at, row.problem)
