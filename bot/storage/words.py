"""Counts in how many issues of a repository each word occurs, which shows the finder the rare words (F8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import sqlalchemy as sa

from bot.domain.formats import batches
from bot.storage.engine import write
from bot.storage.part import Part
from bot.storage.tables.schema import counted, words

# One issue, a stranger's text, must not fill the table with words that no other issue has.
LONGEST_WORD = 64
MOST_WORDS_OF_AN_ISSUE = 500
# Beyond so many words of a repository, those that occur once are dropped.
MOST_WORDS = 200_000

# SQLite takes 32,766 parameters in a statement.
_BATCH = 2_000
_LOOK_EVERY = 1_000

_WordsByNumber = Mapping[int, Collection[str]]


class Words(Part):
    """The `words` and `counted` tables."""

    def add(self, repo_id: int, issues: _WordsByNumber) -> int:
        """Count the words of issues by number, each issue once; returns how many issues were new."""
        with write(self._engine) as connection:
            fresh: set[int] = set()
            for numbers in batches(sorted(issues), _BATCH):
                insert = self._insert(counted).values([{"repo_id": repo_id, "number": number} for number in numbers])
                fresh.update(connection.execute(insert.on_conflict_do_nothing().returning(counted.c.number)).scalars())
            self._count(connection, repo_id, fresh, issues, 1)
            if fresh:
                self._prune(connection, repo_id, len(fresh))
        return len(fresh)

    def remove(self, repo_id: int, issues: _WordsByNumber) -> None:
        """Undo the counts of issues by number, given the words that were counted; ignores issues that were not."""
        with write(self._engine) as connection:
            gone: set[int] = set()
            for numbers in batches(sorted(issues), _BATCH):
                mine = sa.and_(counted.c.repo_id == repo_id, counted.c.number.in_(numbers))
                gone.update(connection.execute(sa.delete(counted).where(mine).returning(counted.c.number)).scalars())
            for batch in batches(self._count(connection, repo_id, gone, issues, -1), _BATCH):
                none = sa.and_(words.c.repo_id == repo_id, words.c.word.in_(batch), words.c.issues <= 0)
                connection.execute(sa.delete(words).where(none))

    def counts(self, repo_id: int, wanted: Collection[str]) -> dict[str, int]:
        """In how many issues each of the words occurs, without words that occur in none."""
        found: dict[str, int] = {}
        with self._engine.connect() as connection:
            for batch in batches(sorted(set(wanted)), _BATCH):
                these = (words.c.repo_id == repo_id, words.c.word.in_(batch))
                rows = connection.execute(sa.select(words.c.word, words.c.issues).where(*these))
                found.update({row.word: row.issues for row in rows})
        return found

    def includes(self, repo_id: int, number: int) -> bool:
        """Whether the words of this issue have been counted."""
        query = sa.select(counted.c.number).where(counted.c.repo_id == repo_id, counted.c.number == number)
        return self._first(query) is not None

    def total(self, repo_id: int, *, but: int | None = None) -> int:
        """How many issues of this repository have been counted, without number `but`."""
        others = () if but is None else (counted.c.number != but,)
        with self._engine.connect() as connection:
            return _count(connection, counted, repo_id, *others)

    def _count(
        self, connection: sa.Connection, repo_id: int, numbers: Iterable[int], issues: _WordsByNumber, each: int
    ) -> list[str]:
        """Add `each` to the counts of these issues' words; returns the words."""
        # Sorted, so that two processes that change the same words cannot deadlock.
        found = Counter(word for number in numbers for word in _usable(issues[number]))
        insert = self._insert(words)
        sums = insert.on_conflict_do_update(
            index_elements=["repo_id", "word"], set_={"issues": words.c.issues + insert.excluded.issues}
        )
        rows = [{"repo_id": repo_id, "word": word, "issues": each * found[word]} for word in sorted(found)]
        if rows:
            connection.execute(sums, rows)
        return sorted(found)

    def _prune(self, connection: sa.Connection, repo_id: int, fresh: int) -> None:
        """Keep the table bounded: once in a thousand issues, since it takes a while to count all words."""
        total = _count(connection, counted, repo_id)
        if total // _LOOK_EVERY == (total - fresh) // _LOOK_EVERY or _count(connection, words, repo_id) <= MOST_WORDS:
            return
        connection.execute(sa.delete(words).where(words.c.repo_id == repo_id, words.c.issues == 1))


def _count(connection: sa.Connection, table: sa.Table, repo_id: int, *among: sa.ColumnElement[bool]) -> int:
    query = sa.select(sa.func.count()).select_from(table).where(table.c.repo_id == repo_id, *among)
    return connection.execute(query).scalar_one()


def _usable(of_issue: Iterable[str]) -> list[str]:
    """The words to count. PostgreSQL cannot store a NUL character, which no real word has."""
    usable = {word for word in of_issue if 0 < len(word) <= LONGEST_WORD and "\0" not in word}
    return sorted(usable)[:MOST_WORDS_OF_AN_ISSUE]
