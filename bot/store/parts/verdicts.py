"""What people decided about pairs of issues: `not` a duplicate, or a duplicate `of` (C4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from bot.judgements import Rejection, Verdict, VerdictKind
from bot.store.parts.base import Part
from bot.store.tables.schema import rejected_elsewhere, verdicts


class Verdicts(Part):
    """The `verdicts` table."""

    def add(
        self,
        repo_id: int,
        number: int,
        other: int,
        kind: VerdictKind,
        *,
        actor: str,
        command_id: int,
        now: float,
        details: Mapping[str, Any] | None = None,
    ) -> bool:
        """Keep a decision; False if this very command has been kept before (a redelivery) and still holds."""
        values = {
            "actor": actor,
            "at": now,
            "undone_at": None,
            "undone_by": None,
            "details": json.dumps(dict(details or {})),
        }
        key = {"repo_id": repo_id, "command_id": command_id, "kind": kind, "number": number, "other": other}
        # A command that was taken back and is written anew by an edit counts again.
        return self._write(self._upsert(verdicts, key, values, where=verdicts.c.undone_at.is_not(None)))

    def remove(self, verdict_id: int) -> None:
        """Erase a decision that GitHub did not let us carry out."""
        self._change(sa.delete(verdicts).where(verdicts.c.id == verdict_id))

    def rejected(self, repo_id: int, number: int) -> set[int]:
        """The issues that this one is not a duplicate of, whichever of the two it was said on."""
        pairs = sa.select(verdicts.c.number, verdicts.c.other).where(
            verdicts.c.repo_id == repo_id,
            verdicts.c.kind == VerdictKind.NOT,
            verdicts.c.undone_at.is_(None),
            sa.or_(verdicts.c.number == number, verdicts.c.other == number),
        )
        return {one for pair in self._all(pairs) for one in pair} - {number}

    def of_pair(self, repo_id: int, number: int, other: int) -> list[Verdict]:
        """Who said that these two are different and holds to it, whichever of the two it was said on."""
        numbers = (number, other)
        return self._find(
            verdicts.c.repo_id == repo_id,
            verdicts.c.kind == VerdictKind.NOT,
            verdicts.c.undone_at.is_(None),
            verdicts.c.number.in_(numbers),
            verdicts.c.other.in_(numbers),
        )

    def last(self, repo_id: int, number: int, actor: str | None = None, *, up_to: int | None = None) -> Verdict | None:
        """The latest decision taken on this issue that no `undo` has taken back, by anybody or by one person.

        `up_to` is a comment's id: what later comments decided is left aside (GitHub's ids grow with time).
        """
        query = sa.select(verdicts).where(
            verdicts.c.repo_id == repo_id, verdicts.c.number == number, verdicts.c.undone_by.is_(None)
        )
        if up_to is not None:
            query = query.where(verdicts.c.command_id <= up_to)
        if actor is not None:
            query = query.where(sa.func.lower(verdicts.c.actor) == actor.lower())
        row = self._first(query.order_by(verdicts.c.at.desc(), verdicts.c.id.desc()).limit(1))
        return None if row is None else _verdict(row)

    def original(self, repo_id: int, number: int) -> int | None:
        """The issue in whose favour this one was closed by the last `of` that still holds; None without one."""
        query = sa.select(verdicts.c.other).where(
            verdicts.c.repo_id == repo_id,
            verdicts.c.number == number,
            verdicts.c.kind == VerdictKind.OF,
            verdicts.c.undone_at.is_(None),
        )
        return self._scalar(query.order_by(verdicts.c.at.desc(), verdicts.c.id.desc()).limit(1))

    def originals(self, repo_id: int) -> dict[int, int]:
        """For each issue of a repository that was closed in favour of another, by an `of` that still holds, which."""
        query = sa.select(verdicts.c.number, verdicts.c.other).where(
            verdicts.c.repo_id == repo_id, verdicts.c.kind == VerdictKind.OF, verdicts.c.undone_at.is_(None)
        )
        return {row.number: row.other for row in self._all(query.order_by(verdicts.c.at, verdicts.c.id))}

    def by_command(self, repo_id: int, command_id: int) -> list[Verdict]:
        """The decisions that the command in this comment took, whether they still hold or not."""
        return self._find(verdicts.c.repo_id == repo_id, verdicts.c.command_id == command_id)

    def undone_by(self, repo_id: int, command_id: int) -> list[Verdict]:
        """The decisions that the `undo` in this comment took back: a retry of it must not take back another."""
        return self._find(verdicts.c.repo_id == repo_id, verdicts.c.undone_by == command_id)

    def since(self, repo_id: int, since: float) -> list[Verdict]:
        """The decisions on a repository's issues at `since` (seconds since 1970) or later that still hold."""
        return self._find(verdicts.c.repo_id == repo_id, verdicts.c.at >= since, verdicts.c.undone_at.is_(None))

    def _find(self, *conditions: sa.ColumnElement[bool]) -> list[Verdict]:
        return [_verdict(row) for row in self._all(sa.select(verdicts).where(*conditions).order_by(verdicts.c.id))]

    def undo(self, verdict_id: int, command_id: int, now: float) -> bool:
        """Take a decision back for the command in this comment; False if it was taken back before."""
        holds = sa.update(verdicts).where(verdicts.c.id == verdict_id, verdicts.c.undone_by.is_(None))
        return self._change(holds.values(undone_at=now, undone_by=command_id)) > 0

    def overtaken(self, repo_id: int, number: int, now: float, *, but: int | None = None) -> None:
        """An issue that `of` had closed is open again, or closed otherwise, by somebody's hand: `of` holds no longer.

        One in favour of `but` does. An `undo` can still take back what else it did, since none is noted.
        """
        mine = (verdicts.c.repo_id == repo_id, verdicts.c.number == number, verdicts.c.kind == VerdictKind.OF)
        query = sa.update(verdicts).where(*mine, verdicts.c.undone_at.is_(None)).values(undone_at=now)
        self._change(query if but is None else query.where(verdicts.c.other != but))


def _verdict(row: sa.Row[Any]) -> Verdict:
    return Verdict(
        id=row.id,
        repo_id=row.repo_id,
        number=row.number,
        other=row.other,
        kind=VerdictKind(row.kind),
        actor=row.actor,
        at=row.at,
        command_id=row.command_id,
        undone_at=row.undone_at,
        details=json.loads(row.details),
    )


class Elsewhere(Part):
    """The `rejected_elsewhere` table."""

    def add(self, repo_id: int, said: Rejection) -> None:
        """Keep what was said. Said by this very command before, it holds again if it was taken back meanwhile."""
        values = {"actor": said.actor, "at": said.at, "undone_at": None, "undone_by": None}
        key = {"repo_id": repo_id, "number": said.number, "issue": said.issue, "command_id": said.command_id}
        self._change(self._upsert(rejected_elsewhere, key, values, where=rejected_elsewhere.c.undone_at.is_not(None)))

    def rejected(self, repo_id: int, number: int) -> set[str]:
        """The issues elsewhere that are never shown for this one."""
        return {said.issue for said in self.of_issue(repo_id, number) if said.undone_by is None}

    def of_issue(self, repo_id: int, number: int) -> list[Rejection]:
        """All that was said on an issue, oldest first, also what was taken back since."""
        columns = (
            rejected_elsewhere.c.number,
            rejected_elsewhere.c.issue,
            rejected_elsewhere.c.actor,
            rejected_elsewhere.c.at,
            rejected_elsewhere.c.command_id,
            rejected_elsewhere.c.undone_by,
        )
        mine = sa.select(*columns).where(rejected_elsewhere.c.repo_id == repo_id, rejected_elsewhere.c.number == number)
        return [
            Rejection(*row)
            for row in self._all(mine.order_by(rejected_elsewhere.c.at, rejected_elsewhere.c.command_id))
        ]

    def undo(self, repo_id: int, said: Rejection, command_id: int, now: float) -> None:
        """Take it back for the command in this comment, unless that was done before."""
        this = (
            rejected_elsewhere.c.repo_id == repo_id,
            rejected_elsewhere.c.number == said.number,
            rejected_elsewhere.c.issue == said.issue,
            rejected_elsewhere.c.command_id == said.command_id,
            rejected_elsewhere.c.undone_by.is_(None),
        )
        self._change(sa.update(rejected_elsewhere).where(*this).values(undone_at=now, undone_by=command_id))
