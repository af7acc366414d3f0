"""Records the bot's decisions about issues, the labels it added, and the judge's verdicts (J) on pairs of issues."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.domain.decisions import Decision, DecisionOutcome, dump, load
from bot.domain.entities import name_key
from bot.domain.formats import batches
from bot.domain.judge_protocol import JudgedPair, JudgeLimits, JudgeVerdict
from bot.storage.engine import TableGateway, lock, with_key, write
from bot.storage.schema import decisions, judge_calls, judgements, labelled

KEPT_DAYS = 400
"""Decisions are erased after this many days: feedback may come a month after the decision, and counts for a year."""

KEPT_MOST = 10_000
"""How many of a repository's decisions are kept; they take about 21 MB in SQLite."""

KEPT_OF_ISSUE = 100
"""How many of an issue's decisions are kept: edits of one issue must not push out other issues' decisions."""

# How many issue numbers go into one statement.
_AT_ONCE = 500

# SQLite allows OFFSET only after LIMIT.
_NO_LIMIT = 2**62


def _all_but(most: int, condition: sa.ColumnElement[bool]) -> sa.Delete:
    """A statement that erases the decisions that meet the `condition`, except the latest `most`."""
    latest = sa.select(decisions.c.id).where(condition).order_by(decisions.c.at.desc(), decisions.c.id.desc())
    return sa.delete(decisions).where(decisions.c.id.in_(latest.limit(_NO_LIMIT).offset(most)))


_ERASE_OLDEST_OF_ISSUE = _all_but(KEPT_OF_ISSUE, with_key(decisions, "repo_id", "number"))
_ERASE_OLDEST_OF_REPOSITORY = _all_but(KEPT_MOST, with_key(decisions, "repo_id"))


class Decisions(TableGateway):
    def add(self, repo_id: int, decision: Decision) -> None:
        """Store a decision, and keep only the latest KEPT_OF_ISSUE of its issue."""
        issue = {"repo_id": repo_id, "number": decision.number}
        values = {
            "at": decision.at,
            "cause": decision.cause,
            "mode": decision.mode,
            "outcome": decision.outcome.value,
            "reason": decision.reason,
            "bar": decision.threshold,
            "evidence": dump(decision.evidence),
        }
        with write(self._engine) as connection:
            connection.execute(sa.insert(decisions), issue | values)
            connection.execute(_ERASE_OLDEST_OF_ISSUE, issue)

    def between(self, repo_id: int, since: float, until: float) -> list[Decision]:
        """The decisions from `since` to before `until`, the earliest first."""
        return self._read(decisions.c.repo_id == repo_id, decisions.c.at >= since, decisions.c.at < until)

    def latest(self, repo_id: int, most: int = 100, before: float | None = None) -> list[Decision]:
        """The latest decisions, at most `most`, newest first; with `before` only those before that time."""
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
        return sorted(found, key=lambda decision: decision.at)

    def of_issue(self, repo_id: int, number: int) -> list[Decision]:
        return self._read(decisions.c.repo_id == repo_id, decisions.c.number == number)

    def last_looks(self, repo_id: int, numbers: Collection[int]) -> dict[int, float]:
        """When the bot last looked at each of these issues. A decision to leave an issue alone does not count."""
        latest = sa.func.max(decisions.c.at)
        where = (decisions.c.repo_id == repo_id, decisions.c.number.in_(numbers))
        query = sa.select(decisions.c.number, latest).where(*where, decisions.c.outcome != DecisionOutcome.LEFT_ALONE)
        return {row[0]: row[1] for row in self._all(query.group_by(decisions.c.number))}

    def prune(self, now: float) -> int:
        """Erase decisions older than KEPT_DAYS, then each repository's oldest beyond KEPT_MOST. Returns how many."""
        old = decisions.c.at < now - KEPT_DAYS * 86_400.0
        too_many = sa.select(decisions.c.repo_id).group_by(decisions.c.repo_id).having(sa.func.count() > KEPT_MOST)
        with write(self._engine) as connection:
            erased = connection.execute(sa.delete(decisions).where(old)).rowcount
            for repo_id in connection.execute(too_many).scalars().all():
                erased += connection.execute(_ERASE_OLDEST_OF_REPOSITORY, {"repo_id": repo_id}).rowcount
        return erased

    def _read(self, *which: sa.ColumnElement[bool]) -> list[Decision]:
        query = sa.select(decisions).where(*which).order_by(decisions.c.at, decisions.c.id)
        return [_decision(row) for row in self._all(query)]


def _decision(row: sa.Row[Any]) -> Decision:
    outcome, evidence = DecisionOutcome(row.outcome), load(row.evidence)
    return Decision(row.number, row.at, row.cause, row.mode, outcome, row.bar, row.reason, evidence)


DAY, HOUR = 86_400.0, 3_600.0


class LabelledIssues(TableGateway):
    """The `labelled` table. `place` is how many additions and removals of the label `duplicate` preceded the bot's."""

    def set(self, repo_id: int, number: int, changes_before: int) -> None:
        """Record that the bot adds the label, after `changes_before` additions and removals of the label."""
        self._change(self._upsert(labelled, {"repo_id": repo_id, "number": number}, {"place": changes_before}))

    def clear(self, repo_id: int, number: int) -> None:
        """Forget the addition, because GitHub has refused it."""
        self._change(sa.delete(labelled).where(labelled.c.repo_id == repo_id, labelled.c.number == number))

    def changes_before(self, repo_id: int, number: int) -> int | None:
        """How many changes of the label came before the bot's last addition; None if the bot never added it."""
        query = sa.select(labelled.c.place).where(labelled.c.repo_id == repo_id, labelled.c.number == number)
        return self._scalar(query)


@dataclass(frozen=True, slots=True)
class JudgeUsage:
    """Calls to the judge, with their tokens and cost."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class StoredJudgement:
    """The judge's verdict on the pair of an issue and the issue `other`; `by` names the model and the prompts."""

    other: int
    said: JudgedPair
    by: str


class Judgements(TableGateway):
    """The judge's verdicts, and calls to the judge. Limits cover 24 hours; an author's limit covers one hour."""

    def get(self, repo_id: int, keys: Collection[str]) -> Mapping[str, JudgedPair]:
        """The stored verdicts, by the key of the pair."""
        query = sa.select(judgements).where(judgements.c.repo_id == repo_id, judgements.c.key.in_(keys))
        return {row.key: _judged_pair(row) for row in self._all(query)}

    def put(self, repo_id: int, number: int, new: Mapping[str, tuple[int, JudgedPair]], by: str, now: float) -> None:
        """Store verdicts about issue `number`. `new` maps a pair's key to the other issue's number and the verdict."""
        with write(self._engine) as connection:
            for key, (other, judged) in new.items():
                values = {
                    "number": number,
                    "other": other,
                    "verdict": judged.verdict.value,
                    # PostgreSQL cannot store a NUL character, and no text needs one.
                    "shared_cause": judged.shared_cause.replace("\0", ""),
                    "differs": judged.differs.replace("\0", ""),
                    "said_by": by,
                    "at": now,
                }
                connection.execute(self._upsert(judgements, {"repo_id": repo_id, "key": key}, values))

    def begin(self, repo_id: int, number: int, author: str, tokens: int, limits: JudgeLimits, now: float) -> int | None:
        """Count a planned call of at most `tokens` tokens. Returns the call's id; None if a limit forbids the call."""
        login, table = name_key(author), judge_calls
        with write(self._engine) as connection:
            # Without the lock, a limit with room for one more call could let two simultaneous calls pass.
            lock(connection, "judge")

            def spent(seconds: float, *conditions: sa.ColumnElement[bool]) -> JudgeUsage:
                return _sum(connection, table.c.at > now - seconds, *conditions)

            overall, in_repo = spent(DAY), spent(DAY, table.c.repo_id == repo_id)
            by_author = spent(HOUR, table.c.login == login)
            if (
                overall.calls >= limits.calls
                or overall.tokens_in + overall.tokens_out + tokens > limits.tokens
                or in_repo.calls >= limits.calls_each
                or in_repo.tokens_in + in_repo.tokens_out + tokens > limits.tokens_each
                or by_author.calls >= limits.calls_author
            ):
                return None
            estimates = {"tokens_in": tokens, "tokens_out": 0, "cost": 0.0, "seconds": 0.0}
            insert = sa.insert(table).values(repo_id=repo_id, number=number, login=login, at=now, **estimates)
            return int(connection.execute(insert.returning(table.c.id)).scalar_one())

    def end(self, call: int, tokens_in: int, tokens_out: int, cost: float, seconds: float) -> None:
        """Replace the estimates of a call by its real tokens, cost and duration."""
        values = {"tokens_in": tokens_in, "tokens_out": tokens_out, "cost": cost, "seconds": seconds}
        self._change(sa.update(judge_calls).where(judge_calls.c.id == call).values(**values))

    def of_issue(self, repo_id: int, number: int) -> tuple[list[StoredJudgement], JudgeUsage, float]:
        """An issue's verdicts, oldest first; the usage of all calls about the issue; the seconds of the last call."""
        where = sa.and_(judgements.c.repo_id == repo_id, judgements.c.number == number)
        rows = self._all(sa.select(judgements).where(where).order_by(judgements.c.at))
        calls = sa.and_(judge_calls.c.repo_id == repo_id, judge_calls.c.number == number)
        last = self._scalar(sa.select(judge_calls.c.seconds).where(calls).order_by(judge_calls.c.id.desc()).limit(1))
        with self._engine.connect() as connection:
            spent = _sum(connection, calls)
        return [StoredJudgement(row.other, _judged_pair(row), row.said_by) for row in rows], spent, last or 0.0

    def spent(self, repo_id: int, since: float, until: float) -> JudgeUsage:
        conditions = (judge_calls.c.repo_id == repo_id, judge_calls.c.at >= since, judge_calls.c.at < until)
        with self._engine.connect() as connection:
            return _sum(connection, *conditions)

    def prune(self, now: float) -> int:
        """Erase verdicts and calls older than KEPT_DAYS; returns how many."""
        before = now - KEPT_DAYS * DAY
        return sum(self._change(sa.delete(table).where(table.c.at < before)) for table in (judgements, judge_calls))


def _judged_pair(row: sa.Row[tuple[object, ...]]) -> JudgedPair:
    return JudgedPair(JudgeVerdict(row.verdict), row.shared_cause, row.differs)


def _sum(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> JudgeUsage:
    columns = judge_calls.c
    sums = (sa.func.sum(columns.tokens_in), sa.func.sum(columns.tokens_out), sa.func.sum(columns.cost))
    calls, tokens_in, tokens_out, cost = connection.execute(sa.select(sa.func.count(), *sums).where(*conditions)).one()
    return JudgeUsage(int(calls), int(tokens_in or 0), int(tokens_out or 0), float(cost or 0.0))
