"""Finds the repositories in which the bot is ill: the last check failed, or new issues are not checked.

Every half hour the bot indexes new issues even if their deliveries never arrived, so the index shows issues that the
bot has not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from bot.deliveries.database import QUEUE, jobs, named_failures, state
from bot.deliveries.dead_letters import is_dead
from bot.domain.decisions import REFUSED
from bot.storage import Store
from bot.storage.schema import decisions, indexed_issues, repositories

LATE_AFTER = 3_600.0
"""The bot should check an issue within this many seconds. A delivery takes seconds, and a retry takes minutes."""


class Illness(StrEnum):
    """What is wrong in a repository, the worst first, worded for somebody who can fix the problem."""

    GIVEN_UP = "its last delivery was given up; for the reason, run doppel jobs or read the log"
    REFUSED = "GitHub refused the last comment; the decision says why"
    LATE = "its newest issue was not looked at within an hour; doppel doctor finds out why"


def illnesses(store: Store, queue: sa.Engine, now: float) -> Mapping[int, Illness]:
    """The repositories in which the bot is ill, by id; `now` is in seconds since 1970.

    Leaves out repositories that are archived, suspended, or set to `mode: off`. Raises QueueUnavailable and
    SQLAlchemyError.
    """
    # Imported late: the import loads the GitHub client and ssl, and in a web process gevent must patch ssl first.
    from bot.search.repository_settings import last_read

    last_dead = sa.select(jobs.c.repository, sa.func.max(jobs.c.number)).where(is_dead()).group_by(jobs.c.repository)
    with named_failures(), queue.connect() as connection:
        given_up = {
            repo_id
            for repo_id, dead_number in connection.execute(last_dead).all()
            if not connection.execute(_done_since(repo_id, dead_number)).first()
        }
    id_column = repositories.c.repo_id
    last_decision = sa.select(decisions.c.at).where(decisions.c.repo_id == id_column)
    last_decision = last_decision.order_by(decisions.c.at.desc(), decisions.c.id.desc()).limit(1)
    newest = sa.select(indexed_issues.c.created_at).where(indexed_issues.c.repo_id == id_column)
    newest = newest.order_by(indexed_issues.c.number.desc()).limit(1)
    query = sa.select(
        id_column,
        # When the bot last decided, else when the repository's row last changed. Issues opened before are never late.
        sa.func.coalesce(last_decision.scalar_subquery(), repositories.c.updated_at),
        last_decision.with_only_columns(decisions.c.reason).scalar_subquery(),
        newest.scalar_subquery(),
    ).where(~repositories.c.suspended, ~repositories.c.archived)
    with store.engine.connect() as connection:
        rows = connection.execute(query).all()
    found = {}
    for repo_id, checked_at, reason, opened_at in rows:
        if repo_id in given_up:
            found[repo_id] = Illness.GIVEN_UP
        elif (reason or "").startswith(REFUSED):
            found[repo_id] = Illness.REFUSED
        elif opened_at is not None and checked_at < opened_at < now - LATE_AFTER:
            found[repo_id] = Illness.LATE
    return {repo_id: illness for repo_id, illness in found.items() if last_read(store, repo_id).mode != "off"}


def _done_since(repo_id: int, number: int) -> sa.Select[Any]:
    """A query for jobs of the repository that are done and came after job `number`."""
    return sa.select(jobs.c.number).where(
        state("done"), jobs.c.queue == QUEUE, jobs.c.repository == repo_id, jobs.c.number > number
    )


def count_by_illness(found: Mapping[int, Illness]) -> dict[str, int]:
    """The number of repositories with each illness, by the illness's name."""
    counts = Counter(found.values())
    return {illness.name.lower(): counts[illness] for illness in Illness}
