"""The issues that are looked through, and what was found for each, kept: a scan goes on where it was stopped.

It asks only what changed. An answer holds as long as neither its issue's text nor that of an issue in it has changed,
nor their vectors, which can come later than the text, and the same model judges.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.index.database import among, upsert
from bot.report import Reason, Shared
from bot.scanning.model import Answer, Entry, Found
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.index import indexed_issues as issues
from bot.store.tables.index import indexed_terms as terms
from bot.store.tables.index import indexed_vectors as vectors
from bot.store.tables.index import lock_index
from bot.store.tables.schema import scan_answers as table

_ROWS = 2_000


class Answers(Part):
    """The `scan_answers` table."""

    def put(self, repo_id: int, answers: Sequence[Answer]) -> None:
        """Keep answers, over those that there were, of issues that are still there."""
        rows = [
            (
                repo_id,
                one.number,
                one.sequence,
                one.model,
                json.dumps([_stored(it) for it in one.found]),
            )
            for one in answers
        ]
        with write(self._engine) as connection:
            # An issue that was deleted meanwhile has been forgotten already, and nobody would come for its answer.
            lock_index(connection, repo_id)
            asked = among(connection, issues.c.number, [one.number for one in answers])
            there = sa.select(issues.c.number).where(issues.c.repo_id == repo_id, asked)
            numbers = set(connection.execute(there).scalars())
            upsert(connection, table, [row for row in rows if row[1] in numbers])

    def all(self, repo_id: int) -> Iterator[Answer]:
        """All answers of a repository, a part at a time from the database."""
        query = sa.select(table).where(table.c.repo_id == repo_id).order_by(table.c.number)
        with self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=_ROWS).execute(query):
                found = [Found(number, chance, _reasons(why)) for number, chance, why in json.loads(row.candidates)]
                yield Answer(row.number, row.sequence, row.model, tuple(found))

    def drop_outdated(self, repo_id: int) -> None:
        """Forget answers with an issue whose text or vectors have changed since."""
        self._drop(repo_id, self.outdated(repo_id))

    def outdated(self, repo_id: int) -> list[int]:
        """The issues in whose answers is one whose text or vectors have changed since."""
        changed: dict[int, int] = {}
        for part in (terms, vectors):
            for number, at in self._all(sa.select(part.c.number, part.c.changed).where(part.c.repo_id == repo_id)):
                changed[number] = max(at, changed.get(number, 0))
        return [
            answer.number
            for answer in self.all(repo_id)
            if any(changed.get(found.number, 0) > answer.sequence for found in answer.found)
        ]

    def forget(self, repo_id: int) -> None:
        """Forget all answers of a repository."""
        self._change(sa.delete(table).where(table.c.repo_id == repo_id))

    def missing(
        self, repo_id: int, model: str, *, closed: bool = False, after: int = 0, limit: int | None = None
    ) -> list[int]:
        """The issues above `after` that have no answer that holds, in ascending order; with `closed` closed ones too.

        Issues that are closed as duplicates are not asked about: they have been dealt with.
        """
        mine = sa.and_(table.c.repo_id == issues.c.repo_id, table.c.number == issues.c.number)
        own = sa.and_(terms.c.repo_id == issues.c.repo_id, terms.c.number == issues.c.number)
        embedded = sa.and_(vectors.c.repo_id == issues.c.repo_id, vectors.c.number == issues.c.number)
        outdated = sa.or_(table.c.sequence < terms.c.changed, table.c.sequence < vectors.c.changed)
        query = (
            sa.select(issues.c.number)
            .join(terms, own)
            .outerjoin(vectors, embedded)
            .outerjoin(table, mine)
            .where(
                issues.c.repo_id == repo_id,
                issues.c.number > after,
                in_backlog(closed),
                sa.or_(table.c.number.is_(None), table.c.model != model, outdated),
            )
            .order_by(issues.c.number)
            .limit(limit)
        )
        return [row.number for row in self._all(query)]

    def _drop(self, repo_id: int, numbers: Iterable[int]) -> None:
        with write(self._engine) as connection:
            mine = sa.and_(table.c.repo_id == repo_id, among(connection, table.c.number, numbers))
            connection.execute(sa.delete(table).where(mine))


def in_backlog(closed: bool) -> sa.ColumnElement[bool]:
    """Which issues are looked through."""
    dealt_with = sa.or_(issues.c.duplicate_of.is_not(None), sa.func.coalesce(issues.c.state_reason, "") == "duplicate")
    opened = issues.c.state == "open"
    return sa.or_(opened, sa.not_(dealt_with)) if closed else opened


def _stored(found: Found) -> list[Any]:
    return [found.number, round(found.confidence, 4), [[why.shared, *why.quoted] for why in found.reasons]]


def _reasons(stored: Iterable[list[str]]) -> tuple[Reason, ...]:
    return tuple(Reason(Shared(shared), tuple(quoted)) for shared, *quoted in stored)


def count_entries(connection: sa.Connection, repo_id: int, *, closed: bool) -> int:
    """How many `entries` there are."""
    query = sa.select(sa.func.count()).select_from(issues).where(issues.c.repo_id == repo_id, in_backlog(closed))
    return int(connection.execute(query).scalar_one())


def put_reactions(connection: sa.Connection, repo_id: int, given: Mapping[int, tuple[int, int]]) -> None:
    """Keep how many 👍 and 👎 issues have now, by number."""
    if given:
        change = (
            sa.update(issues)
            .where(issues.c.repo_id == repo_id, issues.c.number == sa.bindparam("at"))
            .values(thumbs_up=sa.bindparam("up"), thumbs_down=sa.bindparam("down"))
        )
        rows = [{"at": number, "up": up, "down": down} for number, (up, down) in sorted(given.items())]
        connection.execute(change, rows)


def entries(connection: sa.Connection, repo_id: int, *, closed: bool = False) -> Iterator[Entry]:
    """The open issues of a repository, with `closed` the closed ones too, from the oldest on (D8).

    One that was transferred here is as old as it is, whatever its number.
    """
    columns = ("number", "title", "state", "created_at", "thumbs_up", "thumbs_down", "comments")
    query = (
        sa.select(*(issues.c[name] for name in columns))
        .where(issues.c.repo_id == repo_id, in_backlog(closed))
        .order_by(issues.c.created_at, issues.c.number)
    )
    for number, title, state, created, up, down, comments in connection.execution_options(yield_per=_ROWS).execute(
        query
    ):
        yield Entry(number, title, state, datetime.fromtimestamp(created, UTC), up, down, comments)
