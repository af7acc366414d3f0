"""The `decisions` table: bounded in age and in number for each issue and repository."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from bot.domain.counting import batches
from bot.domain.decisions import Decision, Outcome, dump, load
from bot.storage.engine import write
from bot.storage.part import Part
from bot.storage.tables.schema import decisions

KEPT_DAYS = 400
"""Days after which a decision is erased: a year of feedback, and a month more for what came before it."""

KEPT_MOST = 10_000
"""The latest decisions of one repository; at about 1.5 kB of evidence each, they take 21 MB of SQLite."""

KEPT_OF_ISSUE = 100
"""The latest decisions of one issue: somebody who edits all day drives out no other issue's."""

# Numbers in one statement.
_AT_ONCE = 500


class Decisions(Part):
    """The bot's decisions about issues."""

    def add(self, repo_id: int, decision: Decision) -> None:
        """Keep a decision, and only the latest KEPT_OF_ISSUE of its issue."""
        kept = sa.insert(decisions).values(
            repo_id=repo_id,
            number=decision.number,
            at=decision.at,
            cause=decision.cause,
            mode=decision.mode,
            outcome=decision.outcome.value,
            reason=decision.reason,
            bar=decision.threshold,
            evidence=dump(decision.evidence),
        )
        with write(self._engine) as connection:
            connection.execute(kept)
            of_issue = sa.and_(decisions.c.repo_id == repo_id, decisions.c.number == decision.number)
            connection.execute(_all_but(KEPT_OF_ISSUE, of_issue, connection))

    def between(self, repo_id: int, since: float, until: float) -> list[Decision]:
        """The decisions from `since` to before `until`, the earliest first."""
        return self._read(decisions.c.repo_id == repo_id, decisions.c.at >= since, decisions.c.at < until)

    def latest(self, repo_id: int, most: int = 100, before: float | None = None) -> list[Decision]:
        """The latest decisions, the last one first, or those before a time."""
        query = sa.select(decisions).where(decisions.c.repo_id == repo_id)
        if before is not None:
            query = query.where(decisions.c.at < before)
        rows = self._all(query.order_by(decisions.c.at.desc(), decisions.c.id.desc()).limit(most))
        return [_decision(row) for row in rows]

    def of_issues(self, repo_id: int, numbers: Collection[int]) -> list[Decision]:
        """All decisions about some issues, the earliest first."""
        found: list[Decision] = []
        for part in batches(sorted(numbers), _AT_ONCE):
            found += self._read(decisions.c.repo_id == repo_id, decisions.c.number.in_(part))
        return sorted(found, key=lambda one: one.at)

    def of_issue(self, repo_id: int, number: int) -> list[Decision]:
        """All decisions about one issue, the earliest first."""
        return self._read(decisions.c.repo_id == repo_id, decisions.c.number == number)

    def last_looks(self, repo_id: int, numbers: Collection[int]) -> dict[int, float]:
        """The time of the last decision about each of these issues."""
        at = sa.func.max(decisions.c.at)
        query = sa.select(decisions.c.number, at).where(decisions.c.repo_id == repo_id, decisions.c.number.in_(numbers))
        return {row[0]: row[1] for row in self._all(query.group_by(decisions.c.number))}

    def prune(self, now: float) -> int:
        """Erase decisions older than KEPT_DAYS, and all but the latest KEPT_MOST of each repository; how many."""
        old = decisions.c.at < now - KEPT_DAYS * 86_400.0
        counts = sa.select(decisions.c.repo_id).group_by(decisions.c.repo_id).having(sa.func.count() > KEPT_MOST)
        with write(self._engine) as connection:
            erased = connection.execute(sa.delete(decisions).where(old)).rowcount
            for repo_id in connection.execute(counts).scalars().all():
                erased += connection.execute(_all_but(KEPT_MOST, decisions.c.repo_id == repo_id, connection)).rowcount
        return erased

    def _read(self, *which: sa.ColumnElement[bool]) -> list[Decision]:
        """These decisions, the earliest first."""
        query = sa.select(decisions).where(*which).order_by(decisions.c.at, decisions.c.id)
        return [_decision(row) for row in self._all(query)]


def _decision(row: sa.Row[Any]) -> Decision:
    outcome, evidence = Outcome(row.outcome), load(row.evidence)
    return Decision(row.number, row.at, row.cause, row.mode, outcome, row.bar, row.reason, evidence)


def _all_but(most: int, those: sa.ColumnElement[bool], connection: sa.Connection) -> sa.Delete:
    """A statement that erases all of these decisions but so many of the latest."""
    latest = sa.select(decisions.c.id).where(those).order_by(decisions.c.at.desc(), decisions.c.id.desc())
    extra = latest.offset(most).limit(-1 if connection.dialect.name == "sqlite" else None)
    return sa.delete(decisions).where(decisions.c.id.in_(extra))
