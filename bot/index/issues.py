"""Issues as the index keeps them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from bot.index.database import fetch, fetch_all, upsert
from bot.model import Actor, Issue, RepoRef, State
from bot.store.tables.index import indexed_bodies as bodies
from bot.store.tables.index import indexed_issues as table
from bot.store.tables.index import indexed_terms as terms

#: Characters of a body that are kept; what an issue is about is said before that.
LONGEST_BODY = 8_000
LONGEST_TITLE = 1_000

UNTOLD = 0
"""Stored as `duplicate_of` of an issue that GitHub calls a duplicate, where it could not be asked of what."""

# What both call and hold alike.
_SAME = ("number", "title", "body", "state", "state_reason", "labels", "thumbs_up", "thumbs_down", "comments", "id")


class IndexedIssue(NamedTuple):
    """An issue, with `duplicate_of` the number of the one that it was closed as a duplicate of, where that is known.

    Times are seconds since 1970, UTC. `body` is empty where it was not asked for.
    """

    number: int
    title: str
    body: str = ""
    state: State = "open"
    state_reason: str | None = None
    author: str = ""
    bot: bool = False
    labels: tuple[str, ...] = ()
    created_at: float = 0.0
    updated_at: float = 0.0
    closed_at: float | None = None
    thumbs_up: int = 0
    thumbs_down: int = 0
    comments: int = 0
    duplicate_of: int | None = None
    id: int = 0

    @classmethod
    def of(cls, issue: Issue, duplicate_of: int | None = None) -> IndexedIssue:
        """What GitHub says of an issue."""
        return cls(
            author=issue.author.login,
            bot=issue.author.is_bot,
            created_at=issue.created_at.timestamp(),
            updated_at=issue.updated_at.timestamp(),
            closed_at=issue.closed_at.timestamp() if issue.closed_at else None,
            duplicate_of=duplicate_of,
            **{name: getattr(issue, name) for name in _SAME},
        )

    def issue(self, repo: RepoRef, url: str) -> Issue:
        """The same as GitHub would say it; the index keeps no `node_id`."""
        return Issue(
            repo=repo,
            node_id="",
            author=Actor(self.author, self.bot),
            created_at=datetime.fromtimestamp(self.created_at, UTC),
            updated_at=datetime.fromtimestamp(self.updated_at, UTC),
            closed_at=None if self.closed_at is None else datetime.fromtimestamp(self.closed_at, UTC),
            url=url,
            **{name: getattr(self, name) for name in _SAME},
        )


def kept_text(text: str, longest: int) -> str:
    """A text as it is kept: cut, and without what PostgreSQL or UTF-8 cannot hold (NUL, half a surrogate pair)."""
    text = text[:longest].replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def read(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, IndexedIssue]:
    """Issues by number, without their bodies; those that are not indexed are left out."""
    rows = fetch(connection, repo_id, tuple(table.columns), table.c.number, numbers)
    return {row[1]: _issue(row) for row in rows}


def texts(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, tuple[str, str]]:
    """Titles and bodies by number."""
    titles = fetch(connection, repo_id, (table.c.number, table.c.title), table.c.number, numbers)
    found = dict(fetch(connection, repo_id, (bodies.c.number, bodies.c.body), bodies.c.number, numbers))
    return {number: (title, found.get(number, "")) for number, title in titles}


def latest(connection: sa.Connection, repo_id: int, most: int) -> list[IndexedIssue]:
    """Those with the highest numbers, with their bodies."""
    numbers = sa.select(table.c.number).where(table.c.repo_id == repo_id).order_by(table.c.number.desc()).limit(most)
    found = read(connection, repo_id, list(connection.execute(numbers).scalars()))
    bodies_of = texts(connection, repo_id, found)
    return [issue._replace(body=bodies_of[number][1]) for number, issue in found.items()]


def updated(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, float]:
    """When each of those issues that are indexed was changed last, as GitHub says."""
    return dict(fetch(connection, repo_id, (table.c.number, table.c.updated_at), table.c.number, numbers))


def changes(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, int]:
    """In which change each of those issues that are there got the text that it has."""
    return dict(fetch(connection, repo_id, (terms.c.number, terms.c.changed), terms.c.number, numbers))


def magnets(connection: sa.Connection, repo_id: int, least: int, most: int) -> list[int]:
    """The numbers of issues of which at least so many others were closed as duplicates, those with most first."""
    times = sa.func.count()
    query = sa.select(table.c.duplicate_of).where(table.c.repo_id == repo_id, table.c.duplicate_of > UNTOLD)
    query = query.group_by(table.c.duplicate_of).having(times >= least).order_by(times.desc()).limit(most)
    return list(connection.execute(query).scalars())


def count_by(connection: sa.Connection, repo_id: int, author: str, below: int) -> int:
    """How many issues with smaller numbers somebody wrote."""
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    asked = f"SELECT count(*) FROM {table.name} WHERE repo_id = {mark} AND author = {mark} AND number < {mark}"  # noqa: S608
    return int(fetch_all(connection, asked, (repo_id, kept_text(author, 200), below))[0][0])


def write(
    connection: sa.Connection, repo_id: int, issues: Sequence[IndexedIssue], changed: Mapping[int, tuple[str, str]]
) -> None:
    """Write issues; the bodies of those whose texts have `changed`."""
    upsert(connection, table, [_row(repo_id, issue) for issue in issues])
    upsert(connection, bodies, [(repo_id, number, body) for number, (_, body) in changed.items()])


def _row(repo_id: int, issue: IndexedIssue) -> tuple[Any, ...]:
    return (
        repo_id,
        issue.number,
        issue.id,
        kept_text(issue.title, LONGEST_TITLE),
        issue.state,
        issue.state_reason,
        kept_text(issue.author, 200),
        issue.bot,
        json.dumps([kept_text(label, 200) for label in issue.labels]),
        issue.created_at,
        issue.updated_at,
        issue.closed_at,
        issue.thumbs_up,
        issue.thumbs_down,
        issue.comments,
        issue.duplicate_of,
    )


def _issue(row: tuple[Any, ...]) -> IndexedIssue:
    _, number, id, title, state, reason, author, bot, labels, created, updated, closed, up, down, comments, of = row
    tags = tuple(json.loads(labels)) if labels != "[]" else ()
    of = None if of == UNTOLD else of
    return IndexedIssue(
        number, title, "", state, reason, author, bool(bot), tags, created, updated, closed, up, down, comments, of, id
    )


def untold(connection: sa.Connection, repo_id: int, limit: int) -> list[int]:
    """Some of the issues that are duplicates of nobody knows what, others each time.

    GitHub may never tell it of some, which must not keep the rest from being asked about.
    """
    mine = sa.and_(table.c.repo_id == repo_id, table.c.duplicate_of == UNTOLD)
    query = sa.select(table.c.number).where(mine).order_by(sa.func.random()).limit(limit)
    return list(connection.execute(query).scalars())


def tell(connection: sa.Connection, repo_id: int, originals: Mapping[int, int | None]) -> None:
    """Note of what those among them are duplicates that are so still."""
    mine = sa.and_(table.c.repo_id == repo_id, table.c.number == sa.bindparam("issue"), table.c.duplicate_of == UNTOLD)
    told = sa.update(table).where(mine).values(duplicate_of=sa.bindparam("original"))
    connection.execute(told, [{"issue": issue, "original": original} for issue, original in originals.items()])
