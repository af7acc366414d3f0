"""Each repository's newest evaluation, and how far the one has come that somebody asked for on the dashboard."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from bot.quality.evaluation.figures import Evaluation
from bot.storage.engine import write
from bot.storage.part import Part
from bot.storage.tables.schema import evaluations as table

DAY, SOON, LOST = 86_400.0, 600.0, 8 * 3600.0
"""Seconds from the click until a repository can be evaluated again: where that ended as it should, where it failed, and
where nothing is heard of it any more."""

_evaluation: TypeAdapter[Evaluation] = TypeAdapter(Evaluation)


class Stage(StrEnum):
    """Where a run is. `NONE`: nobody asked for one here, the result is from the command line."""

    NONE = "none"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self in (Stage.WAITING, Stage.RUNNING)


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """`problem` says what keeps it, or why there is no result. `chain` is the name under which it is queued, `asked_at`
    is in seconds since 1970.
    """

    stage: Stage = Stage.NONE
    chain: str = ""
    asked_at: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """What a page shows: the run, and the newest result with its time (None: there is none)."""

    run: EvaluationRun
    result: Evaluation | None = None
    made_at: float | None = None


def seconds_until_allowed(run: EvaluationRun, now: float) -> float:
    """Seconds until this repository may be evaluated again; 0: at once. Pure.

    At most once a day, and one run at a time; one that failed may be tried again soon.
    """
    if run.stage is Stage.NONE:
        return 0.0
    lasts = LOST if run.stage.runs else DAY if run.stage is Stage.DONE else SOON
    # What is far ahead of this clock is from before that was set back.
    return 0.0 if run.asked_at > now + lasts else max(0.0, run.asked_at + lasts - now)


class EvaluationRuns(Part):
    """The `evaluations` table. Safe to share between threads and processes."""

    def get(self, repo_id: int) -> StoredEvaluation:
        """What there is. A result of another version, which this one cannot read, is none."""
        row = self._first(sa.select(table).where(table.c.repo_id == repo_id))
        if row is None:
            return StoredEvaluation(EvaluationRun())
        try:
            return StoredEvaluation(_run(row), _evaluation.validate_json(row.result or ""), row.made_at)
        except ValidationError:
            return StoredEvaluation(_run(row))

    def begin(self, repo_id: int, chain: str, now: float) -> bool:
        """Note that a run is asked for; False where it may not be yet. Of two who ask at once one is told so."""
        fresh = self._insert(table).values(repo_id=repo_id, **asdict(EvaluationRun()))
        with write(self._engine) as connection:
            connection.execute(fresh.on_conflict_do_nothing())
            row = connection.execute(sa.select(table).where(table.c.repo_id == repo_id).with_for_update()).one()
            if seconds_until_allowed(_run(row), now):
                return False
            asked = asdict(EvaluationRun(Stage.WAITING, chain, now))
            connection.execute(sa.update(table).where(table.c.repo_id == repo_id).values(asked))
        return True

    def note(self, repo_id: int, chain: str, stage: Stage, problem: str = "") -> None:
        """Keep how far a run is, if it is still the present one."""
        mine = sa.and_(table.c.repo_id == repo_id, table.c.chain == chain)
        self._change(sa.update(table).where(mine).values(stage=stage, problem=problem))

    def keep(self, repo_id: int, result: Evaluation, now: float) -> None:
        """Keep a result instead of the one before."""
        made = {"result": _evaluation.dump_json(result).decode(), "made_at": now}
        insert = self._insert(table).values(repo_id=repo_id, **asdict(EvaluationRun()), **made)
        self._change(insert.on_conflict_do_update(index_elements=["repo_id"], set_=made))


def _run(row: Any) -> EvaluationRun:
    return EvaluationRun(Stage(row.stage), row.chain, row.asked_at, row.problem)
