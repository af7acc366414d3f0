"""The tables of the judge (J): what it said of two texts, and what its answers took."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from bot.domain.entities import name_key
from bot.domain.judge_protocol import JudgedPair, JudgeLimits, JudgeVerdict
from bot.storage.engine import write
from bot.storage.part import Part
from bot.storage.tables.schema import judge_calls, judgements

KEPT_DAYS = 400
"""Days after which an answer is erased, as decisions are."""

DAY, HOUR = 86_400.0, 3_600.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What questions took."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Kept:
    """What was said of issue `other` beside another one, and by which model with which prompts."""

    other: int
    said: JudgedPair
    by: str


class Judgements(Part):
    """As `bot.search.judge.judge.Record` says; budgets are of the last 24 hours, and for authors of the last hour."""

    def kept(self, repo_id: int, keys: Collection[str]) -> Mapping[str, JudgedPair]:
        query = sa.select(judgements).where(judgements.c.repo_id == repo_id, judgements.c.key.in_(keys))
        return {row.key: _said(row) for row in self._all(query)}

    def keep(self, repo_id: int, number: int, said: Mapping[str, tuple[int, JudgedPair]], by: str, now: float) -> None:
        with write(self._engine) as connection:
            for key, (other, one) in said.items():
                values = {
                    "number": number,
                    "other": other,
                    "verdict": one.verdict.value,
                    # PostgreSQL cannot store it, and no text needs it.
                    "shared_cause": one.shared_cause.replace("\0", ""),
                    "differs": one.differs.replace("\0", ""),
                    "said_by": by,
                    "at": now,
                }
                connection.execute(self._upsert(judgements, {"repo_id": repo_id, "key": key}, values))

    def begin(self, repo_id: int, number: int, author: str, tokens: int, limits: JudgeLimits, now: float) -> int | None:
        login, table = name_key(author), judge_calls
        with write(self._engine) as connection:
            # PostgreSQL has no one writer as SQLite has; without this lock two calls could both be the last.
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext("judge"))))

            def spent(since: float, *among: sa.ColumnElement[bool]) -> Spent:
                return _sum(connection, table.c.at > now - since, *among)

            host, mine = spent(DAY), spent(DAY, table.c.repo_id == repo_id)
            theirs = spent(HOUR, table.c.login == login)
            if (
                host.calls >= limits.calls
                or host.tokens_in + host.tokens_out + tokens > limits.tokens
                or mine.calls >= limits.calls_each
                or mine.tokens_in + mine.tokens_out + tokens > limits.tokens_each
                or theirs.calls >= limits.calls_author
            ):
                return None
            row = sa.insert(table).values(
                repo_id=repo_id,
                number=number,
                login=login,
                at=now,
                tokens_in=tokens,
                tokens_out=0,
                cost=0.0,
                seconds=0.0,
            )
            return int(connection.execute(row.returning(table.c.id)).scalar_one())

    def end(self, call: int, tokens_in: int, tokens_out: int, cost: float, seconds: float) -> None:
        values = {"tokens_in": tokens_in, "tokens_out": tokens_out, "cost": cost, "seconds": seconds}
        self._change(sa.update(judge_calls).where(judge_calls.c.id == call).values(**values))

    def of_issue(self, repo_id: int, number: int) -> tuple[list[Kept], Spent, float]:
        """What was said of an issue's candidates, the latest last, what that took, and the seconds of the last call."""
        mine = sa.and_(judgements.c.repo_id == repo_id, judgements.c.number == number)
        rows = self._all(sa.select(judgements).where(mine).order_by(judgements.c.at))
        calls = sa.and_(judge_calls.c.repo_id == repo_id, judge_calls.c.number == number)
        last = self._scalar(sa.select(judge_calls.c.seconds).where(calls).order_by(judge_calls.c.id.desc()).limit(1))
        with self._engine.connect() as connection:
            spent = _sum(connection, calls)
        return [Kept(row.other, _said(row), row.said_by) for row in rows], spent, last or 0.0

    def spent(self, repo_id: int, since: float, until: float) -> Spent:
        """What a repository's questions took from `since` to before `until`."""
        among = (judge_calls.c.repo_id == repo_id, judge_calls.c.at >= since, judge_calls.c.at < until)
        with self._engine.connect() as connection:
            return _sum(connection, *among)

    def prune(self, now: float) -> int:
        """Erase what is old enough; how many rows."""
        before = now - KEPT_DAYS * DAY
        return sum(self._change(sa.delete(table).where(table.c.at < before)) for table in (judgements, judge_calls))


def _said(row: sa.Row[tuple[object, ...]]) -> JudgedPair:
    return JudgedPair(JudgeVerdict(row.verdict), row.shared_cause, row.differs)


def _sum(connection: sa.Connection, *among: sa.ColumnElement[bool]) -> Spent:
    table = judge_calls.c
    sums = (sa.func.sum(table.tokens_in), sa.func.sum(table.tokens_out), sa.func.sum(table.cost))
    calls, into, out, cost = connection.execute(sa.select(sa.func.count(), *sums).where(*among)).one()
    return Spent(int(calls), int(into or 0), int(out or 0), float(cost or 0.0))
