"""A file of past issues, one JSON object a line, plain or gzipped: `id, title, body, created_at, closed_at, …`.

Only what was known when an issue arrived is read. `duplicate_of` and all other fields never leave the line.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.errors import UserError
from bot.model import NOBODY


@dataclass(frozen=True, slots=True)
class PastIssue:
    """One issue of the file. `id` is the file's own, a number or a string such as `TIMOB-1`."""

    id: int | str
    title: str
    body: str
    created_at: datetime
    closed_at: datetime | None
    author: str
    labels: tuple[str, ...]


Archive = list[PastIssue]


def read_archive(path: Path) -> Archive:
    """All issues in order of arrival. Raises UserError naming the line that cannot be read."""
    return archive_of(read_rows(path))


def archive_of(rows: Iterable[tuple[Any, str]]) -> Archive:
    """The same from rows with the place where each stands. Raises UserError naming the place of a wrong one."""
    issues = [_issue(row, place) for row, place in rows]
    # Issues of one second keep the order of their ids; numbers are compared as numbers, which padding does.
    return sorted(issues, key=lambda issue: (issue.created_at, str(issue.id).zfill(12)))


def read_rows(path: Path) -> Iterator[tuple[Any, str]]:
    """The lines of a file as they stand, with their places.

    Raises UserError for a file that cannot be read, naming the line where it is one that is not JSON.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for count, line in enumerate(lines, 1):
                if line.strip():
                    place = f"{path}, line {count}"
                    try:
                        row = json.loads(line)
                    except ValueError as problem:
                        raise UserError(f"{place}: not JSON: {problem}") from None
                    yield row, place
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as problem:
        raise UserError(f"{path}: cannot be read: {problem}") from None


def _issue(row: Any, place: str) -> PastIssue:
    try:
        if not isinstance(row, Mapping) or isinstance(row["id"], bool) or not isinstance(row["id"], int | str):
            raise ValueError("an issue is an object with an id that is a number or a string")
        if not isinstance(row.get("labels") or [], list):
            raise ValueError("labels is not a list")
        closed = row.get("closed_at")
        return PastIssue(
            id=row["id"],
            title=str(row.get("title") or ""),
            body=str(row.get("body") or ""),
            created_at=_time(row["created_at"]),
            closed_at=_time(closed) if closed else None,
            author=str(row.get("author") or NOBODY),
            labels=tuple(_label(label) for label in row.get("labels") or ()),
        )
    except KeyError as missing:
        raise UserError(f"{place}: {missing.args[0]} is missing") from None
    except (TypeError, ValueError) as problem:
        raise UserError(f"{place}: {problem!s}") from None


def _label(label: Any) -> str:
    return str(label["name"] if isinstance(label, Mapping) else label)


def _time(text: Any) -> datetime:
    moment = datetime.fromisoformat(str(text))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
