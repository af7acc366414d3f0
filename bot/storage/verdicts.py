"""People's verdicts on pairs of issues: `not` a duplicate, or a duplicate `of` (C4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from bot.domain.feedback import Rejection, UserVerdict, UserVerdictKind
from bot.storage.part import Part
from bot.storage.tables.schema import rejected_elsewhere, verdicts


class Verdicts(Part):
    """The `verdicts` table."""

    def add(
        self,
        repo_id: int,
        number: int,
        other: int,
        kind: UserVerdictKind,
        *,
        actor: str,
        command_id: int,
        now: float,
        details: Mapping[str, Any] | None = None,
    ) -> bool:
        """Keep a verdict; False if this very command has been kept before (a redelivery) and still holds."""
        undone = {"undone_at": None, "undone_by": None}
        values = {"actor": actor, "at": now, **undone, "details": json.dumps(dict(details or {}))}
        key = {"repo_id": repo_id, "command_id": command_id, "kind": kind, "number": number, "other": other}
        # A command that was undone counts again if an edit repeats it.
        return self._write(self._upsert(verdicts, key, values, where=verdicts.c.undone_at.is_not(None)))

    def remove(self, verdict_id: int) -> None:
        """Erase a verdict that GitHub did not let us carry out."""
        self._change(sa.delete(verdicts).where(verdicts.c.id == verdict_id))

    def rejected(self, repo_id: int, number: int) -> set[int]:
        """The issues that are no duplicates of this one, whichever of the two the command was on."""
        either = sa.or_(verdicts.c.number == number, verdicts.c.other == number)
        pairs = sa.select(verdicts.c.number, verdicts.c.other).where(*_holding(repo_id, UserVerdictKind.NOT), either)
        return {one for pair in self._all(pairs) for one in pair} - {number}

    def of_pair(self, repo_id: int, number: int, other: int) -> list[UserVerdict]:
        """The verdicts that these two are different, whichever of the two the command was on."""
        pair, mine = (number, other), _holding(repo_id, UserVerdictKind.NOT)
        return self._find(*mine, verdicts.c.number.in_(pair), verdicts.c.other.in_(pair))

    def last(
        self, repo_id: int, number: int, actor: str | None = None, *, up_to: int | None = None
    ) -> UserVerdict | None:
        """The latest verdict on this issue that no `undo` has taken back, by anybody or by one person.

        `up_to` is a comment's id: it leaves out later comments (GitHub's ids grow with time).
        """
        mine = (verdicts.c.repo_id == repo_id, verdicts.c.number == number)
        query = sa.select(verdicts).where(*mine, verdicts.c.undone_by.is_(None))
        if up_to is not None:
            query = query.where(verdicts.c.command_id <= up_to)
        if actor is not None:
            query = query.where(sa.func.lower(verdicts.c.actor) == actor.lower())
        row = self._first(query.order_by(verdicts.c.at.desc(), verdicts.c.id.desc()).limit(1))
        return row and _verdict(row)

    def original(self, repo_id: int, number: int) -> int | None:
        """The original of an issue, by the last `of` that still holds; None without one."""
        query = sa.select(verdicts.c.other).where(*_holding(repo_id, UserVerdictKind.OF), verdicts.c.number == number)
        return self._scalar(query.order_by(verdicts.c.at.desc(), verdicts.c.id.desc()).limit(1))

    def originals(self, repo_id: int) -> dict[int, int]:
        """The original of each issue that was closed by an `of` that still holds."""
        query = sa.select(verdicts.c.number, verdicts.c.other).where(*_holding(repo_id, UserVerdictKind.OF))
        return {row.number: row.other for row in self._all(query.order_by(verdicts.c.at, verdicts.c.id))}

    def by_command(self, repo_id: int, command_id: int) -> list[UserVerdict]:
        """The verdicts of the commands in this comment, whether they still hold or not."""
        return self._find(verdicts.c.repo_id == repo_id, verdicts.c.command_id == command_id)

    def undone_by(self, repo_id: int, command_id: int) -> list[UserVerdict]:
        """The verdicts that the `undo` in this comment took back: a retry of it must not take back another."""
        return self._find(verdicts.c.repo_id == repo_id, verdicts.c.undone_by == command_id)

    def since(self, repo_id: int, since: float) -> list[UserVerdict]:
        """The verdicts at `since` (seconds since 1970) or later that still hold."""
        return self._find(verdicts.c.repo_id == repo_id, verdicts.c.at >= since, verdicts.c.undone_at.is_(None))

    def _find(self, *conditions: sa.ColumnElement[bool]) -> list[UserVerdict]:
        return [_verdict(row) for row in self._all(sa.select(verdicts).where(*conditions).order_by(verdicts.c.id))]

    def undo(self, verdict_id: int, command_id: int, now: float) -> bool:
        """Take a verdict back for the command in this comment; False if it was taken back before."""
        holds = sa.update(verdicts).where(verdicts.c.id == verdict_id, verdicts.c.undone_by.is_(None))
        return self._change(holds.values(undone_at=now, undone_by=command_id)) > 0

    def overtaken(self, repo_id: int, number: int, now: float, *, but: int | None = None) -> None:
        """End the `of` verdicts on an issue that somebody has reopened, or closed otherwise, except one for `but`."""
        mine = (verdicts.c.repo_id == repo_id, verdicts.c.number == number, verdicts.c.kind == UserVerdictKind.OF)
        query = sa.update(verdicts).where(*mine, verdicts.c.undone_at.is_(None)).values(undone_at=now)
        self._change(query if but is None else query.where(verdicts.c.other != but))


def _holding(repo_id: int, kind: UserVerdictKind) -> tuple[sa.ColumnElement[bool], ...]:
    return verdicts.c.repo_id == repo_id, verdicts.c.kind == kind, verdicts.c.undone_at.is_(None)


def _verdict(row: sa.Row[Any]) -> UserVerdict:
    return UserVerdict(
        id=row.id,
        repo_id=row.repo_id,
        number=row.number,
        other=row.other,
        kind=UserVerdictKind(row.kind),
        actor=row.actor,
        at=row.at,
        command_id=row.command_id,
        undone_at=row.undone_at,
        details=json.loads(row.details),
    )


_elsewhere = rejected_elsewhere.c


class Elsewhere(Part):
    """The `rejected_elsewhere` table."""

    def add(self, repo_id: int, said: Rejection) -> None:
        """Keep a rejection. One that was undone counts again if an edit repeats the command."""
        values = {"actor": said.actor, "at": said.at, "undone_at": None, "undone_by": None}
        key = {"repo_id": repo_id, "number": said.number, "issue": said.issue, "command_id": said.command_id}
        self._change(self._upsert(rejected_elsewhere, key, values, where=_elsewhere.undone_at.is_not(None)))

    def rejected(self, repo_id: int, number: int) -> set[str]:
        """The issues elsewhere that must not be shown for this one."""
        return {said.issue for said in self.of_issue(repo_id, number) if said.undone_by is None}

    def of_issue(self, repo_id: int, number: int) -> list[Rejection]:
        """All rejections on an issue, oldest first, also those that were undone."""
        c = _elsewhere
        query = sa.select(c.number, c.issue, c.actor, c.at, c.command_id, c.undone_by)
        mine = query.where(c.repo_id == repo_id, c.number == number).order_by(c.at, c.command_id)
        return [Rejection(*row) for row in self._all(mine)]

    def undo(self, repo_id: int, said: Rejection, command_id: int, now: float) -> None:
        """Take a rejection back for the command in this comment, unless that was done before."""
        c = _elsewhere
        here = (c.repo_id == repo_id, c.number == said.number, c.issue == said.issue)
        this = sa.update(rejected_elsewhere).where(*here, c.command_id == said.command_id, c.undone_by.is_(None))
        self._change(this.values(undone_at=now, undone_by=command_id))
