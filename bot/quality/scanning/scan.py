"""The stored answers of a scan, and the issues that it looks through. With them a scan goes on where it was stopped.

An answer holds as long as the same model judges, and neither the text nor the vectors of its issue, or of an issue in
it, have changed. Vectors can come later than the text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.domain.errors import GitHubError, Retryable
from bot.domain.formats import counted
from bot.domain.report import Reason, ReasonCode
from bot.quality.feedback import decided_in
from bot.quality.scanning.asking import Asker
from bot.quality.scanning.groups import THRESHOLD, grouped
from bot.quality.scanning.pairs import Answer, Entry, Found, Result
from bot.search.index.database import among, upsert
from bot.storage import Store
from bot.storage.engine import TableGateway, write
from bot.storage.schema import indexed_issues as issues
from bot.storage.schema import indexed_terms as terms
from bot.storage.schema import indexed_vectors as vectors
from bot.storage.schema import lock_index
from bot.storage.schema import scan_answers as table

_ROWS = 2_000


class Answers(TableGateway):
    """The `scan_answers` table, and what a scan needs of the index's tables."""

    def put(self, repo_id: int, answers: Sequence[Answer]) -> None:
        """Store answers of issues that are still there, over earlier ones."""
        rows = [
            (repo_id, one.number, one.sequence, one.model, json.dumps([_stored(it) for it in one.found]))
            for one in answers
        ]
        with write(self._engine) as connection:
            # The answer of an issue that was deleted meanwhile would stay for ever.
            lock_index(connection, repo_id)
            asked = among(connection, issues.c.number, [one.number for one in answers])
            there = sa.select(issues.c.number).where(issues.c.repo_id == repo_id, asked)
            numbers = set(connection.execute(there).scalars())
            upsert(connection, table, [row for row in rows if row[1] in numbers])

    def all(self, repo_id: int) -> Iterator[Answer]:
        """All answers of a repository, read from the database piece by piece."""
        query = sa.select(table).where(table.c.repo_id == repo_id).order_by(table.c.number)
        with self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=_ROWS).execute(query):
                found = [Found(number, chance, _reasons(why)) for number, chance, why in json.loads(row.candidates)]
                yield Answer(row.number, row.sequence, row.model, tuple(found))

    def drop_outdated(self, repo_id: int) -> None:
        """Delete the `outdated` answers."""
        numbers = self.outdated(repo_id)
        with write(self._engine) as connection:
            mine = sa.and_(table.c.repo_id == repo_id, among(connection, table.c.number, numbers))
            connection.execute(sa.delete(table).where(mine))

    def outdated(self, repo_id: int) -> list[int]:
        """The issues whose answers hold another issue that has changed since, in its text or its vectors."""
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
        """Delete all answers of a repository."""
        self._change(sa.delete(table).where(table.c.repo_id == repo_id))

    def missing(self, repo_id: int, model: str, *, closed: bool, after: int, limit: int | None) -> list[int]:
        """The issues above `after` that have no answer that holds, ascending; with `closed`, closed ones too."""
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
                _in_backlog(repo_id, closed),
                issues.c.number > after,
                sa.or_(table.c.number.is_(None), table.c.model != model, outdated),
            )
            .order_by(issues.c.number)
            .limit(limit)
        )
        return [row.number for row in self._all(query)]

    def count_entries(self, repo_id: int, *, closed: bool) -> int:
        """How many issues there are to look through."""
        return int(self._scalar(sa.select(sa.func.count()).where(_in_backlog(repo_id, closed))) or 0)

    def entries(self, repo_id: int, *, closed: bool) -> list[Entry]:
        """The issues to look through, oldest first by `created_at` (D8), since a transferred one has a high number."""
        columns = ("number", "title", "state", "created_at", "thumbs_up", "thumbs_down", "comments")
        query = sa.select(*(issues.c[name] for name in columns)).where(_in_backlog(repo_id, closed))
        return [
            Entry(number, title, state, datetime.fromtimestamp(created, UTC), up, down, comments)
            for number, title, state, created, up, down, comments in self._all(
                query.order_by(issues.c.created_at, issues.c.number)
            )
        ]

    def put_reactions(self, repo_id: int, given: Mapping[int, tuple[int, int]]) -> None:
        """Store how many 👍 and 👎 issues have now, by number."""
        if given:
            change = (
                sa.update(issues)
                .where(issues.c.repo_id == repo_id, issues.c.number == sa.bindparam("at"))
                .values(thumbs_up=sa.bindparam("up"), thumbs_down=sa.bindparam("down"))
            )
            rows = [{"at": number, "up": up, "down": down} for number, (up, down) in sorted(given.items())]
            with write(self._engine) as connection:
                connection.execute(change, rows)


def _in_backlog(repo_id: int, closed: bool) -> sa.ColumnElement[bool]:
    """A repository's open issues; with `closed` also closed ones, unless they were closed as duplicates."""
    dealt_with = sa.or_(issues.c.duplicate_of.is_not(None), sa.func.coalesce(issues.c.state_reason, "") == "duplicate")
    opened = issues.c.state == "open"
    return sa.and_(issues.c.repo_id == repo_id, sa.or_(opened, sa.not_(dealt_with)) if closed else opened)


def _stored(found: Found) -> list[Any]:
    return [found.number, round(found.confidence, 4), [[why.shared, *why.quoted] for why in found.reasons]]


def _reasons(stored: Iterable[list[str]]) -> tuple[Reason, ...]:
    return tuple(Reason(ReasonCode(shared), tuple(quoted)) for shared, *quoted in stored)


log = logging.getLogger(__name__)

AGAIN = 100
"""Issues that are asked about once more at the end of a scan, some seconds' work."""

ReadReactions = Callable[[Sequence[int]], Mapping[int, tuple[int, int]]]
"""How many 👍 and 👎 issues have, by number, as GitHub says now; issues may be left out."""


class Scan:
    """A scan can be stopped at any time: answers are stored, and issues that have one are not asked about again."""

    def __init__(self, store: Store, asker: Asker, repo_id: int, *, closed: bool = False) -> None:
        self._store = store
        self._answers = Answers(store.engine)
        self._asker = asker
        self._repo_id = repo_id
        self._closed = closed

    def begin(self, *, fresh: bool = False) -> None:
        """Delete the answers that another issue's change has made outdated; with `fresh`, all answers."""
        if fresh:
            self._answers.forget(self._repo_id)
        else:
            self._answers.drop_outdated(self._repo_id)

    def missing(self, after: int = 0, limit: int | None = None) -> list[int]:
        """The issues above `after` that still have to be asked about."""
        version = self._asker.version(self._repo_id)
        return self._answers.missing(self._repo_id, version, closed=self._closed, after=after, limit=limit)

    def ask_again(self) -> None:
        """Ask once more about issues whose answers have become outdated during the scan.

        Only once, and at most AGAIN issues, because a scan has to end: vectors may have come for all of them. The other
        outdated answers are used as they are, and the next scan asks again.
        """
        changed = {*self._answers.outdated(self._repo_id), *self.missing(limit=AGAIN)}
        self.ask(sorted(changed)[:AGAIN])

    def count(self) -> int:
        """How many issues there are to look through."""
        return self._answers.count_entries(self._repo_id, closed=self._closed)

    def ask(self, numbers: Sequence[int]) -> None:
        """Ask about some issues, and store the answers."""
        self.keep(self._asker.ask(self._repo_id, numbers))

    def keep(self, answers: Sequence[Answer]) -> None:
        """Store the answers that another process got."""
        self._answers.put(self._repo_id, answers)

    def count_reactions(self, read: ReadReactions, threshold: float = THRESHOLD) -> None:
        """Update how many 👍 and 👎 the issues of the groups have; the order of the groups depends on it.

        The index knows reactions only up to an issue's last change, since GitHub does not count a reaction as one. If
        they cannot be read, those in the index count.
        """
        groups = self.result(threshold).groups
        numbers = [
            entry.number for group in groups for entry in (group.original, *(one.entry for one in group.members))
        ]
        if numbers:
            try:
                given = read(numbers)
            except (GitHubError, Retryable) as failure:
                issues = counted(len(numbers), "issue")
                log.warning("the reactions to %s could not be counted anew: %s", issues, failure)
                return
            self._answers.put_reactions(self._repo_id, given)

    def result(self, threshold: float = THRESHOLD) -> Result:
        """The groups, by the answers that are stored."""
        backlog = self._answers.entries(self._repo_id, closed=self._closed)
        groups = grouped(
            backlog,
            self._answers.all(self._repo_id),
            threshold=threshold,
            decided=decided_in(self._store, self._repo_id),
        )
        return Result(tuple(groups), len(backlog), self._closed, threshold)
