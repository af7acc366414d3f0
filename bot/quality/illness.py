"""In which repositories the bot is ill: its last check failed, or issues arrive and are not checked.

The half-hourly round reads new issues into the index even if their deliveries never come.
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
"""Seconds within which an issue should be checked. A delivery takes seconds, and a retry minutes."""


class Illness(StrEnum):
    """What is wrong in a repository, the worst first, in words for whoever can mend it."""

    GIVEN_UP = "its last delivery was given up; the log and doppel jobs say why"
    REFUSED = "GitHub refused the last comment; the decision says why"
    LATE = "its newest issue was not looked at within an hour; doppel doctor finds out why"


def illnesses(store: Store, queue: sa.Engine, now: float) -> Mapping[int, Illness]:
    """The repositories in which the bot is ill, by id; `now` is in seconds since 1970.

    Repositories with `mode: off`, archived and suspended ones are left out. Raises QueueUnavailable and
    SQLAlchemyError.
    """
    # It loads the client of GitHub, and with it ssl, which gevent has to have patched before in a web process.
    from bot.search.repository_settings import last_read

    dead = sa.select(jobs.c.repository, sa.func.max(jobs.c.number)).where(is_dead()).group_by(jobs.c.repository)
    with named_failures(), queue.connect() as connection:
        given_up = {
            repo_id
            for repo_id, number in connection.execute(dead).all()
            if not connection.execute(_done_since(repo_id, number)).first()
        }
    here = repositories.c.repo_id
    at_last = sa.select(decisions.c.at, decisions.c.reason).where(decisions.c.repo_id == here)
    at_last = at_last.order_by(decisions.c.at.desc(), decisions.c.id.desc()).limit(1)
    newest = sa.select(indexed_issues.c.created_at).where(indexed_issues.c.repo_id == here)
    newest = newest.order_by(indexed_issues.c.number.desc()).limit(1)
    read = sa.select(
        here,
        # Without any decision, count from when the repository became known.
        sa.func.coalesce(at_last.with_only_columns(decisions.c.at).scalar_subquery(), repositories.c.updated_at),
        at_last.with_only_columns(decisions.c.reason).scalar_subquery(),
        newest.scalar_subquery(),
    ).where(~repositories.c.suspended, ~repositories.c.archived)
    with store.engine.connect() as connection:
        rows = connection.execute(read).all()
    found = {}
    for repo_id, looked, reason, opened in rows:
        if repo_id in given_up:
            found[repo_id] = Illness.GIVEN_UP
        elif (reason or "").startswith(REFUSED):
            found[repo_id] = Illness.REFUSED
        elif opened is not None and looked < opened < now - LATE_AFTER:
            found[repo_id] = Illness.LATE
    return {repo_id: one for repo_id, one in found.items() if last_read(store, repo_id).mode != "off"}


def _done_since(repo_id: int, number: int) -> sa.Select[Any]:
    """A query for a later job of the repository that was done."""
    return sa.select(jobs.c.number).where(
        state("done"), jobs.c.queue == QUEUE, jobs.c.repository == repo_id, jobs.c.number > number
    )


def count_by_illness(found: Mapping[int, Illness]) -> dict[str, int]:
    """How many repositories have each illness, by its name. Totals name no repository."""
    counts = Counter(found.values())
    return {one.name.lower(): counts[one] for one in Illness}
