"""What people said of duplicates, kept beside the index: with its texts, a repository's history to judge by."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import sqlalchemy as sa

from bot.batches import batches
from bot.evaluation.former import at_home
from bot.evaluation.history import PastRecord, Said, statements_of
from bot.model import NOBODY
from bot.moments import write_moment
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.index import indexed_bodies as bodies
from bot.store.tables.index import indexed_issues as issues
from bot.store.tables.schema import duplicate_marks as table

_ROWS = 2_000
# Issues that are written in one transaction.
_AT_ONCE = 500


class Marks(Part):
    """The `duplicate_marks` table."""

    def put(self, repo_id: int, said: Mapping[int, Said]) -> None:
        """Keep what was said of some issues, by number, instead of what was known of them."""
        rows = [
            {
                "repo_id": repo_id,
                "number": number,
                "closed_as_duplicate": one.closed_as_duplicate,
                "statements": json.dumps(one.to_json()),
                "closed_by": one.closed_by or None,
            }
            for number, one in said.items()
            if one != Said()
        ]
        with write(self._engine) as connection:
            known = sa.and_(table.c.repo_id == repo_id, table.c.number.in_(list(said)))
            connection.execute(sa.delete(table).where(known))
            if rows:
                connection.execute(sa.insert(table), rows)

    def said(self, repo_id: int) -> dict[int, Said]:
        """What was said, by number; nothing of issues of which nothing was."""
        query = sa.select(table.c.number, table.c.closed_as_duplicate, table.c.statements, table.c.closed_by)
        return {
            row.number: Said(row.closed_as_duplicate, statements_of(json.loads(row.statements)), row.closed_by or "")
            for row in self._all(query.where(table.c.repo_id == repo_id))
        }

    def bring_home(self, repo_id: int, former: Collection[str]) -> None:
        """What was said of issues under a former name of the repository was said of its own."""
        if former:
            said = self.said(repo_id)
            home = {number: replace(one, statements=at_home(one.statements, former)) for number, one in said.items()}
            changed = [(number, one) for number, one in home.items() if one != said[number]]
            for part in batches(changed, _AT_ONCE):
                self.put(repo_id, dict(part))

    def history(self, repo_id: int) -> Iterator[PastRecord]:
        """The issues of the index as records, with what was said of each."""
        said = self.said(repo_id)
        with self._engine.connect() as connection:
            same = sa.and_(bodies.c.repo_id == issues.c.repo_id, bodies.c.number == issues.c.number)
            columns = (*(issues.c[name] for name in _COLUMNS), bodies.c.body)
            texts = sa.select(*columns).outerjoin_from(issues, bodies, same).where(issues.c.repo_id == repo_id)
            for row in connection.execution_options(yield_per=_ROWS).execute(texts):
                of_it = said.get(row.number, Said())
                yield PastRecord(
                    number=row.number,
                    title=row.title,
                    body=row.body or "",
                    author=row.author or NOBODY,
                    created_at=write_moment(row.created_at),
                    updated_at=write_moment(row.updated_at),
                    closed_at=None if row.closed_at is None else write_moment(row.closed_at),
                    closed_as_duplicate=of_it.closed_as_duplicate,
                    statements=of_it.statements,
                    closed_by=of_it.closed_by,
                )


_COLUMNS = ("number", "title", "author", "created_at", "updated_at", "closed_at")
