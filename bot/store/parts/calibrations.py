"""The `calibrations` table: where a repository's feedback has put its bar."""

from __future__ import annotations

import json

import sqlalchemy as sa

from bot.judgements import KeptCalibration
from bot.store.parts.base import Part
from bot.store.tables.decisions import calibrations as table


class Calibrations(Part):
    """One row a repository, from the first calibration or reset on."""

    def get(self, repo_id: int) -> KeptCalibration | None:
        """What holds; None where nothing was ever calibrated."""
        row = self._first(sa.select(table).where(table.c.repo_id == repo_id))
        if row is None:
            return None
        basis = json.loads(row.basis)
        return KeptCalibration(row.bar, row.since, row.changed_at, basis["right"], basis["wrong"])

    def move(
        self, repo_id: int, before: KeptCalibration | None, bar: float | None, right: float, wrong: float, now: float
    ) -> bool:
        """Keep where a calibration puts the bar, and the weights that say so; whether that moved it.

        It rests on what counted where `before` held. Where somebody has put the bar back since, nothing is kept.
        """
        moved = bar != (before.bar if before else None)
        values = {
            "bar": bar,
            "changed_at": now if moved else before.changed_at if before else 0.0,
            "basis": _basis(right, wrong),
        }
        if before is None:
            new = self._insert(table).values(repo_id=repo_id, since=0.0, **values).on_conflict_do_nothing()
            return self._write(new) and moved
        same = sa.update(table).where(table.c.repo_id == repo_id, table.c.since == before.since)
        return bool(self._change(same.values(**values))) and moved

    def reset(self, repo_id: int, now: float) -> None:
        """Put the bar back; what was said until `now` counts no more."""
        values = {"bar": None, "since": now, "changed_at": now, "basis": _basis(0.0, 0.0)}
        self._change(self._upsert(table, {"repo_id": repo_id}, values))


def _basis(right: float, wrong: float) -> str:
    return json.dumps({"right": right, "wrong": wrong})
