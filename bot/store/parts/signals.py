"""What people said other than by commands, which are in `verdicts`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import sqlalchemy as sa

from bot.judgements import Kind, Signal, Who
from bot.model import name_key
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.decisions import signals as table


class Signals(Part):
    """What was said about the issues of repositories; each person once in each kind about one pair."""

    def put(self, repo_id: int, signal: Signal) -> None:
        """Keep what somebody said, in place of what they said before."""
        self._change(self._put(repo_id, signal))

    def replace(self, repo_id: int, number: int, kind: Kind, signals: Iterable[Signal]) -> None:
        """Keep these as all that is said in this way about an issue: what is not among them was taken back."""
        with write(self._engine) as connection:
            connection.execute(sa.delete(table).where(*_of(repo_id, number, kind)))
            for signal in signals:
                connection.execute(self._put(repo_id, signal))

    def drop(self, repo_id: int, number: int, kind: Kind, other: int | None = None) -> None:
        """Forget what was said in this way about an issue, or about one pair."""
        mine = _of(repo_id, number, kind)
        if other is not None:
            mine = (*mine, table.c.other == other)
        self._change(sa.delete(table).where(*mine))

    def drop_own(self, repo_id: int, number: int, kind: Kind, login: str, other: int) -> None:
        """Forget what one person said in this way about one pair."""
        mine = (*_of(repo_id, number, kind), table.c.login == name_key(login), table.c.other == other)
        self._change(sa.delete(table).where(*mine))

    def of_issue(self, repo_id: int, number: int, kind: Kind) -> list[Signal]:
        """What is said in this way about one issue."""
        return self._read(*_of(repo_id, number, kind))

    def since(self, repo_id: int, since: float) -> list[Signal]:
        """Everything that was said at `since` (seconds since 1970) or later, the earliest first."""
        return self._read(table.c.repo_id == repo_id, table.c.at >= since)

    def deciding(self, repo_id: int, kinds: Collection[Kind]) -> list[Signal]:
        """What was said in one of these ways by people whose word counts, of a pair or of a comment of the bot's."""
        about = sa.or_(table.c.other != 0, table.c.kind == Kind.REACTION.value)
        named = table.c.kind.in_([kind.value for kind in kinds])
        return self._read(table.c.repo_id == repo_id, named, about, table.c.who != Who.OTHER.value)

    def prune(self, before: float) -> int:
        """Erase what was said before a time, of all repositories; how many rows."""
        return self._change(sa.delete(table).where(table.c.at < before))

    def _put(self, repo_id: int, signal: Signal) -> Any:
        key = {
            "repo_id": repo_id,
            "number": signal.number,
            "kind": signal.kind.value,
            "login": name_key(signal.login),
            "other": signal.other,
        }
        return self._upsert(table, key, {"same": signal.same, "who": signal.who.value, "at": signal.at})

    def _read(self, *conditions: sa.ColumnElement[bool]) -> list[Signal]:
        query = sa.select(table).where(*conditions).order_by(table.c.at, table.c.number, table.c.login)
        return [
            Signal(row.number, Kind(row.kind), row.login, row.other, row.same, Who(row.who), row.at)
            for row in self._all(query)
        ]


def _of(repo_id: int, number: int, kind: Kind) -> tuple[sa.ColumnElement[bool], ...]:
    return table.c.repo_id == repo_id, table.c.number == number, table.c.kind == kind.value
