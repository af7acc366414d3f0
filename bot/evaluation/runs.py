"""Each repository's newest evaluation, and how far the one has come that somebody asked for on the dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from bot.evaluation.report import Evaluation
from bot.evaluation.statements import READING
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.schema import evaluations as table

DAY, SOON = 86_400.0, 600.0
"""Seconds until a repository can be evaluated again: after a run that ended as it should, after one that failed."""

LOST = 8 * 3600.0
"""Seconds without a sign after which a run is taken for lost: more than the queue lets pass between two tries."""

_evaluation: TypeAdapter[Evaluation] = TypeAdapter(Evaluation)


class Stage(StrEnum):
    """Where a run is. `NONE`: nobody asked for one here, the result is from the command line."""

    NONE = "none"
    READING = "reading"
    REPLAYING = "replaying"
    DONE = "done"
    FAILED = "failed"

    @property
    def runs(self) -> bool:
        """Whether somebody is at it."""
        return self in (Stage.READING, Stage.REPLAYING)


@dataclass(frozen=True, slots=True)
class Run:
    """`done` of `total` issues in this stage; `problem` says what keeps it, or why there is no result. `chain` is the
    name under which its steps are queued, times are seconds since 1970.
    """

    stage: Stage
    chain: str = ""
    asked_at: float = 0.0
    updated_at: float = 0.0
    done: int = 0
    total: int = 0
    problem: str = ""
    read_until: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a page shows: the run, and the newest result with its time (None: there is none)."""

    run: Run
    result: Evaluation | None = None
    made_at: float | None = None


def wait(run: Run, now: float) -> float:
    """Seconds until this repository may be evaluated again; 0: at once. Pure.

    At most once a day, and one run at a time; one that failed may be tried again soon.
    """
    if run.stage is Stage.NONE:
        return 0.0
    if run.stage.runs:
        since, lasts = run.updated_at, LOST
    else:
        since, lasts = run.asked_at, DAY if run.stage is Stage.DONE else SOON
    # What is far ahead of this clock is from before that was set back.
    return 0.0 if since > now + lasts else max(0.0, since + lasts - now)


class Runs(Part):
    """The `evaluations` table. Safe to share between threads and processes."""

    def get(self, repo_id: int) -> Kept:
        """What there is. A result of another version, which this one cannot read, is none."""
        row = self._first(sa.select(table).where(table.c.repo_id == repo_id))
        if row is None:
            return Kept(Run(Stage.NONE))
        if row.result is None:
            return Kept(_run(row))
        try:
            return Kept(_run(row), _evaluation.validate_json(row.result), row.made_at)
        except ValidationError:
            return Kept(_run(row))

    def run(self, repo_id: int) -> Run:
        """How far the present or last run has come."""
        row = self._first(sa.select(table).where(table.c.repo_id == repo_id))
        return Run(Stage.NONE) if row is None else _run(row)

    def begin(self, repo_id: int, chain: str, now: float) -> Run | None:
        """Note that a run begins; None where it may not yet. Of two who ask at once one is told so."""
        fresh = self._insert(table).values(repo_id=repo_id, **_values(Run(Stage.NONE)))
        with write(self._engine) as connection:
            connection.execute(fresh.on_conflict_do_nothing())
            row = connection.execute(sa.select(table).where(table.c.repo_id == repo_id).with_for_update()).one()
            before = _run(row)
            if wait(before, now):
                return None
            # What was read in another way is read again from the beginning.
            run = Run(Stage.READING, chain, now, now, read_until=before.read_until if row.reading == READING else "")
            begun = sa.update(table).where(table.c.repo_id == repo_id)
            connection.execute(begun.values(**_values(run), reading=READING))
        return run

    def note(self, repo_id: int, chain: str, now: float, **changes: Any) -> bool:
        """Change what is kept of a run (the fields of `Run`); False where that one is no longer the present one."""
        mine = sa.and_(table.c.repo_id == repo_id, table.c.chain == chain)
        return self._change(sa.update(table).where(mine).values(updated_at=now, **changes)) > 0

    def keep(self, repo_id: int, result: Evaluation, now: float) -> None:
        """Keep a result instead of the one before."""
        made = {"result": _evaluation.dump_json(result).decode(), "made_at": now}
        insert = self._insert(table).values(repo_id=repo_id, **_values(Run(Stage.NONE)), **made)
        self._change(insert.on_conflict_do_update(index_elements=["repo_id"], set_=made))


def _run(row: Any) -> Run:
    return Run(
        Stage(row.stage), row.chain, row.asked_at, row.updated_at, row.done, row.total, row.problem, row.read_until
    )


def _values(run: Run) -> dict[str, Any]:
    return {
        "stage": run.stage.value,
        "chain": run.chain,
        "asked_at": run.asked_at,
        "updated_at": run.updated_at,
        "done": run.done,
        "total": run.total,
        "problem": run.problem,
        "read_until": run.read_until,
    }
