"""Reads and writes issues in the tables of the index."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from bot.domain.entities import Actor, Issue, RepoRef, State
from bot.search.index.database import fetch, upsert
from bot.storage.schema import indexed_bodies as bodies
from bot.storage.schema import indexed_issues as table
from bot.storage.schema import indexed_terms as terms

#: How many characters of a body are stored. An issue's subject becomes clear well before that.
LONGEST_BODY = 8_000
LONGEST_TITLE = 1_000

# Fields that are the same in IndexedIssue and Issue.
_SAME = ("number", "title", "body", "state", "state_reason", "labels", "thumbs_up", "thumbs_down", "comments", "id")


class IndexedIssue(NamedTuple):
    """An issue in the index. `duplicate_of`: for a closed duplicate, the original's number, if known.

    Times are in seconds since 1970. `body` is empty unless the caller asked for bodies.
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
        """The issue. Fields that are not stored, such as `node_id` and `parent`, are empty."""
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


def storable_text(text: str, longest: int) -> str:
    """Cut a text, and replace characters that PostgreSQL or UTF-8 cannot store (NUL, half a surrogate pair)."""
    text = text[:longest].replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def read(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, IndexedIssue]:
    """Indexed issues by number, without their bodies."""
    columns = [table.c[name] for name in IndexedIssue._fields if name != "body"]
    return {row[0]: _issue(*row) for row in fetch(connection, repo_id, columns, table.c.number, numbers)}


def texts(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, tuple[str, str]]:
    """Titles and bodies by number."""
    titles = fetch(connection, repo_id, (table.c.number, table.c.title), table.c.number, numbers)
    body_of = dict(fetch(connection, repo_id, (bodies.c.number, bodies.c.body), bodies.c.number, numbers))
    return {number: (title, body_of.get(number, "")) for number, title in titles}


def updated_at(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, float]:
    """When each indexed issue was last updated according to GitHub, by number."""
    return dict(fetch(connection, repo_id, (table.c.number, table.c.updated_at), table.c.number, numbers))


def text_changes(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, int]:
    """Maps each issue's number to the sequence number of the change that gave the issue its current text."""
    return dict(fetch(connection, repo_id, (terms.c.number, terms.c.changed), terms.c.number, numbers))


def write(
    connection: sa.Connection, repo_id: int, issues: Sequence[IndexedIssue], changed: Mapping[int, tuple[str, str]]
) -> None:
    """Write issues, and the bodies in `changed`, which maps issue numbers to (title, body), ready to store."""
    upsert(connection, table, [_row(repo_id, issue) for issue in issues])
    upsert(connection, bodies, [(repo_id, number, body) for number, (_, body) in changed.items()])


_STORED = tuple(column.name for column in table.columns if column.name != "repo_id")


def _row(repo_id: int, issue: IndexedIssue) -> tuple[Any, ...]:
    values = issue._asdict() | {
        "title": storable_text(issue.title, LONGEST_TITLE),
        "author": storable_text(issue.author, 200),
        "labels": json.dumps([storable_text(label, 200) for label in issue.labels]),
    }
    return (repo_id, *(values[name] for name in _STORED))


def _issue(
    number: int, title: str, state: State, reason: str | None, author: str, bot: int, labels: str, *rest: Any
) -> IndexedIssue:
    """An issue from its row, which has IndexedIssue's fields in order, except the body."""
    # Parse no JSON for an issue without labels: a search reads two hundred issues, and most have none.
    names = () if labels == "[]" else tuple(json.loads(labels))
    return IndexedIssue(number, title, "", state, reason, author, bool(bot), names, *rest)
