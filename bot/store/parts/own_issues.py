"""Which issues of the bot's own there are, one of a kind in each repository (`bot/posts/own_issues.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa

from bot.store.parts.base import Part
from bot.store.tables.decisions import digest_issues
from bot.store.tables.scan import scan_issues


class Kind(StrEnum):
    """`SCAN` shows the groups of the backlog, `DIGEST` what the bot did in the last week."""

    SCAN = "scan"
    DIGEST = "digest"


_TABLES = {Kind.SCAN: scan_issues, Kind.DIGEST: digest_issues}


@dataclass(frozen=True, slots=True)
class KeptIssue:
    """`number` is None while nobody knows whether it was opened, at a time in seconds since 1970."""

    number: int | None
    updated_at: float


class OwnIssues(Part):
    """The numbers of one kind of issues, one in each repository."""

    def __init__(self, engine: sa.Engine, kind: Kind) -> None:
        super().__init__(engine)
        self.kind = kind
        self._table = _TABLES[kind]

    def get(self, repo_id: int) -> KeptIssue | None:
        """None where there was none, or it was deleted."""
        table = self._table
        row = self._first(sa.select(table.c.number, table.c.updated_at).where(table.c.repo_id == repo_id))
        return None if row is None else KeptIssue(row.number, row.updated_at)

    def set(self, repo_id: int, number: int | None, now: float) -> None:
        """Note the issue, or with None that it is about to be opened."""
        values = {"number": number, "updated_at": now}
        self._change(self._upsert(self._table, {"repo_id": repo_id}, values))

    def opened(self, repo_id: int, number: int, now: float) -> int:
        """Note an issue that was opened, unless another has been noted meanwhile; the number of the one that is."""
        values = {"number": number, "updated_at": now}
        unknown = self._table.c.number.is_(None)
        if self._write(self._upsert(self._table, {"repo_id": repo_id}, values, unknown)):
            return number
        kept = self.get(repo_id)
        return number if kept is None or kept.number is None else kept.number

    def drop(self, repo_id: int) -> None:
        """Note that there is none."""
        self._change(sa.delete(self._table).where(self._table.c.repo_id == repo_id))
