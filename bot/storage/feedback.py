"""Feedback other than by commands (see `verdicts`), the comments that are polled for it, and calibrated thresholds."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.domain.entities import name_key
from bot.domain.judgements import Fold, KeptCalibration, Kind, Signal, Who
from bot.storage.comments import ADVISORY, CommentState
from bot.storage.engine import write
from bot.storage.part import Part
from bot.storage.tables.schema import calibrations, comments, signals, watched


class Signals(Part):
    """People's signals about issues: one of each kind from each person about one pair."""

    def put(self, repo_id: int, signal: Signal) -> None:
        """Keep a signal, in place of the person's former one."""
        self._change(self._put(repo_id, signal))

    def replace(self, repo_id: int, number: int, kind: Kind, said: Iterable[Signal]) -> None:
        """Keep these as all signals of this kind about an issue; others were taken back."""
        with write(self._engine) as connection:
            connection.execute(sa.delete(signals).where(*_signals_of(repo_id, number, kind)))
            for signal in said:
                connection.execute(self._put(repo_id, signal))

    def drop(self, repo_id: int, number: int, kind: Kind, other: int | None = None) -> None:
        """Forget the signals of this kind about an issue, or about one pair."""
        mine = _signals_of(repo_id, number, kind)
        if other is not None:
            mine = (*mine, signals.c.other == other)
        self._change(sa.delete(signals).where(*mine))

    def drop_own(self, repo_id: int, number: int, kind: Kind, login: str, other: int) -> None:
        """Forget one person's signal of this kind about one pair."""
        mine = (*_signals_of(repo_id, number, kind), signals.c.login == name_key(login), signals.c.other == other)
        self._change(sa.delete(signals).where(*mine))

    def of_issue(self, repo_id: int, number: int, kind: Kind) -> list[Signal]:
        """The signals of this kind about one issue."""
        return self._read(*_signals_of(repo_id, number, kind))

    def since(self, repo_id: int, since: float) -> list[Signal]:
        """All signals at `since` (seconds since 1970) or later, the earliest first."""
        return self._read(signals.c.repo_id == repo_id, signals.c.at >= since)

    def deciding(self, repo_id: int, kinds: Collection[Kind]) -> list[Signal]:
        """The signals of these kinds from people who count, about a pair or a comment of the bot's."""
        about = sa.or_(signals.c.other != 0, signals.c.kind == Kind.REACTION.value)
        named = signals.c.kind.in_([kind.value for kind in kinds])
        return self._read(signals.c.repo_id == repo_id, named, about, signals.c.who != Who.OTHER.value)

    def prune(self, before: float) -> int:
        """Erase all repositories' signals before a time; returns how many."""
        return self._change(sa.delete(signals).where(signals.c.at < before))

    def _put(self, repo_id: int, signal: Signal) -> Any:
        person, about = name_key(signal.login), {"number": signal.number, "kind": signal.kind.value}
        key = {"repo_id": repo_id, **about, "login": person, "other": signal.other}
        return self._upsert(signals, key, {"same": signal.same, "who": signal.who.value, "at": signal.at})

    def _read(self, *conditions: sa.ColumnElement[bool]) -> list[Signal]:
        query = sa.select(signals).where(*conditions).order_by(signals.c.at, signals.c.number, signals.c.login)
        return [
            Signal(row.number, Kind(row.kind), row.login, row.other, row.same, Who(row.who), row.at)
            for row in self._all(query)
        ]


def _signals_of(repo_id: int, number: int, kind: Kind) -> tuple[sa.ColumnElement[bool], ...]:
    return signals.c.repo_id == repo_id, signals.c.number == number, signals.c.kind == kind.value


@dataclass(frozen=True, slots=True)
class Watched:
    """The advisory comment on issue `number`; `node_id` is its id in GraphQL, empty until it is known."""

    number: int
    comment_id: int
    node_id: str = ""
    fold: Fold = Fold.OPEN


class WatchedComments(Part):
    """The `watched` table. A comment's row appears when its reactions are first read."""

    def latest(self, repo_id: int, since: float, most: int) -> list[Watched]:
        """The posted advisory comments that were written or edited at `since` or later, the last one first."""
        ours = sa.and_(watched.c.repo_id == comments.c.repo_id, watched.c.number == comments.c.number)
        query = (
            sa.select(comments.c.number, comments.c.comment_id, watched.c.comment_id, watched.c.node_id, watched.c.fold)
            .select_from(comments.outerjoin(watched, ours))
            .where(
                comments.c.repo_id == repo_id,
                comments.c.command_id == ADVISORY,
                comments.c.state == CommentState.POSTED,
                comments.c.comment_id.is_not(None),
                comments.c.updated_at >= since,
            )
            .order_by(comments.c.updated_at.desc(), comments.c.number.desc())
            .limit(most)
        )
        return [
            # The row may be of an earlier comment.
            Watched(number, comment_id, node_id, Fold(fold)) if known == comment_id else Watched(number, comment_id)
            for number, comment_id, known, node_id, fold in self._all(query)
        ]

    def put(self, repo_id: int, looked_at: Sequence[Watched]) -> None:
        """Keep what is known of these comments."""
        with write(self._engine) as connection:
            for one in looked_at:
                values = {"comment_id": one.comment_id, "node_id": one.node_id, "fold": one.fold.value}
                connection.execute(self._upsert(watched, {"repo_id": repo_id, "number": one.number}, values))


class Calibrations(Part):
    """The `calibrations` table: one row for each repository, from its first calibration or reset on."""

    def get(self, repo_id: int) -> KeptCalibration | None:
        """The calibration in force; None if there never was one."""
        row = self._first(sa.select(calibrations).where(calibrations.c.repo_id == repo_id))
        if row is None:
            return None
        basis = json.loads(row.basis)
        return KeptCalibration(row.bar, row.since, row.changed_at, basis["right"], basis["wrong"])

    def move(
        self,
        repo_id: int,
        before: KeptCalibration | None,
        threshold: float | None,
        right: float,
        wrong: float,
        now: float,
    ) -> bool:
        """Keep a calibrated threshold unless somebody has reset it since `before`; whether it moved."""
        moved = threshold != (before.threshold if before else None)
        values = {
            "bar": threshold,
            "changed_at": now if moved else before.changed_at if before else 0.0,
            "basis": _basis(right, wrong),
        }
        if before is None:
            new = self._insert(calibrations).values(repo_id=repo_id, since=0.0, **values).on_conflict_do_nothing()
            return self._write(new) and moved
        same = sa.update(calibrations).where(calibrations.c.repo_id == repo_id, calibrations.c.since == before.since)
        return bool(self._change(same.values(**values))) and moved

    def reset(self, repo_id: int, now: float) -> None:
        """Reset the threshold; signals until `now` count no more."""
        values = {"bar": None, "since": now, "changed_at": now, "basis": _basis(0.0, 0.0)}
        self._change(self._upsert(calibrations, {"repo_id": repo_id}, values))


def _basis(right: float, wrong: float) -> str:
    return json.dumps({"right": right, "wrong": wrong})
