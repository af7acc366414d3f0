"""The issues that are looked through, as the index has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import sqlalchemy as sa

from bot.scanning.answers import in_backlog
from bot.scanning.model import Entry
from bot.store.tables.index import indexed_issues as issues

_ROWS = 2_000


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
