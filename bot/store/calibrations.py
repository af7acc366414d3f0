"""The `calibrations` table: where a repository's feedback has put its bar."""

from __future__ import annotations

import json
from dataclasses import dataclass

import sqlalchemy as sa

from bot.store.base import Part
from bot.store.decision_tables import calibrations as table


@dataclass(frozen=True, slots=True)
class KeptCalibration:
    """The bar that follows from what was said after `since` (None: nothing follows), and when it last moved.

    `right` and `wrong` are the weights that it rests on. Times are seconds since 1970.
    """

    bar: float | None
    since: float
    changed_at: float
    right: float = 0.0
    wrong: float = 0.0


class Calibrations(Part):
    """One row a repository, from the first calibration or reset on."""

    def get(self, repo_id: int) -> KeptCalibration | None:
        """What holds; None where nothing was ever calibrated."""
        row = self._first(sa.select(table).where(table.c.repo_id == repo_id))
        if row is None:
            return None
        basis = json.loads(row.basis)
        return KeptCalibration(row.bar, row.since, row.changed_at, basis["right"], basis["wrong"])

    def set(self, repo_id: int, bar: float | None, right: float, wrong: float, now: float) -> bool:
        """Keep where a calibration puts the bar, and the weights that say so; whether that moved it."""
        known = self.get(repo_id)
        moved = bar != (known.bar if known else None)
        since, changed_at = (known.since, known.changed_at) if known else (0.0, 0.0)
        self._put(repo_id, KeptCalibration(bar, since, now if moved else changed_at, right, wrong))
        return moved

    def reset(self, repo_id: int, now: float) -> None:
        """Put the bar back; what was said until `now` counts no more."""
        self._put(repo_id, KeptCalibration(None, now, now))

    def _put(self, repo_id: int, kept: KeptCalibration) -> None:
        values = {
            "bar": kept.bar,
            "since": kept.since,
            "changed_at": kept.changed_at,
            "basis": json.dumps({"right": kept.right, "wrong": kept.wrong}),
        }
        self._change(self._upsert(table, {"repo_id": repo_id}, values))
