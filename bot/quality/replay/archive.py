"""Reads a plain or gzipped file of past issues, with a JSON object in each line: `id, title, body, created_at, …`.

Reads the fields that were known when the issue arrived, and the time of closing. Ignores `duplicate_of` and other
later marks.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.domain.entities import NOBODY
from bot.domain.errors import UserError
from bot.domain.formats import with_zone
from bot.search.index import IndexedIssue


@dataclass(frozen=True, slots=True)
class PastIssue:
    """One issue of the file. Its `id` is a number, or a string such as `TIMOB-1`."""

    id: int | str
    title: str
    body: str
    created_at: datetime
    closed_at: datetime | None
    author: str
    labels: tuple[str, ...]


def indexed(issues: Sequence[PastIssue]) -> list[IndexedIssue]:
    """The issues as rows of an index, numbered from 1 in order of arrival. Issues without a closing time are open."""
    return [
        IndexedIssue(
            number=number,
            title=one.title,
            body=one.body,
            state="closed" if one.closed_at else "open",
            author=one.author,
            labels=one.labels,
            created_at=one.created_at.timestamp(),
            updated_at=one.created_at.timestamp(),
            closed_at=one.closed_at.timestamp() if one.closed_at else None,
        )
        for number, one in enumerate(issues, 1)
    ]


_GZIPPED = b"\x1f\x8b"


def read_archive(path: Path) -> list[PastIssue]:
    """All issues in order of arrival. Raises UserError if the issues cannot be read, or if the file has no issues."""
    archive = archive_of(read_rows(path))
    if not archive:
        raise UserError(f"{path}: there is no issue in it")
    return archive


def archive_of(rows: Iterable[tuple[Any, str]]) -> list[PastIssue]:
    """All issues, from rows and their locations in the file. Raises UserError for an invalid row or a repeated id."""
    issues, locations = [], dict[int | str, str]()
    for row, location in rows:
        issue = _issue(row, location)
        if issue.id in locations:
            raise UserError(f"{location}: {issue.id!r} is the id of more than one issue, see {locations[issue.id]}")
        locations[issue.id] = location
        issues.append(issue)
    # Issues of the same time are sorted by id. Padding makes numeric ids compare as numbers.
    return sorted(issues, key=lambda issue: (issue.created_at, str(issue.id).zfill(12)))


def read_rows(path: Path) -> Iterator[tuple[Any, str]]:
    """The parsed lines of a file, with their locations.

    The first bytes tell whether the file is gzipped, since a pipe has no file name. Raises UserError if the file cannot
    be read, or if a line is not JSON; then the error names the line.
    """
    try:
        with path.open("rb") as raw:
            plain = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIPPED else raw
            # `-sig` drops the byte order mark that editors on Windows add.
            text = io.TextIOWrapper(plain, encoding="utf-8-sig")
            for count, line in enumerate(text, 1):
                location = f"{path}, line {count}"
                if line.strip():
                    # `gh issue list --json` prints a list, for example.
                    if line.lstrip().startswith("["):
                        raise UserError(f"{location}: not JSON Lines but a list; jq -c '.[]' makes lines of it")
                    try:
                        row = json.loads(line)
                    except json.JSONDecodeError as problem:
                        # The error's own line number is always 1, because the decoder sees a single line.
                        reason = f"not JSON: {problem.msg} at character {problem.pos + 1}"
                        raise UserError(f"{location}: {reason}") from None
                    except (ValueError, RecursionError) as problem:
                        raise UserError(f"{location}: not JSON: {problem}") from None
                    yield row, location
    except UnicodeDecodeError as problem:
        if problem.object.startswith(_GZIPPED):
            raise UserError(f"{path}: gzipped more than once; gunzip it, then it can be read") from None
        # Leave out the error's position, which refers to the decoder's buffer, not to the file.
        raise UserError(f"{path}: not UTF-8; iconv -f ENCODING -t UTF-8 makes it so") from None
    except (OSError, EOFError, zlib.error) as problem:
        raise UserError(f"{path}: cannot be read: {problem}") from None


def _issue(row: Any, location: str) -> PastIssue:
    try:
        if not (isinstance(row, Mapping) and isinstance(row["id"], int | str) and not isinstance(row["id"], bool)):
            raise ValueError("an issue is an object with an id that is a number or a string")
        if not isinstance(row.get("labels") or [], list):
            raise ValueError("labels is not a list")
        closed = row.get("closed_at")
        return PastIssue(
            id=row["id"],
            title=str(row.get("title") or ""),
            body=str(row.get("body") or ""),
            created_at=_time("created_at", row["created_at"]),
            closed_at=_time("closed_at", closed) if closed else None,
            author=str(row.get("author") or NOBODY),
            labels=tuple(str(one["name"] if isinstance(one, Mapping) else one) for one in row.get("labels") or ()),
        )
    except KeyError as missing:
        raise UserError(f"{location}: {missing.args[0]} is missing") from None
    except (TypeError, ValueError) as problem:
        raise UserError(f"{location}: {problem!s}") from None


def _time(field: str, text: Any) -> datetime:
    try:
        moment = with_zone(datetime.fromisoformat(text)).astimezone(UTC)
        # Refuse a time at the very end of 9999: rounding its seconds since 1970 leads into the year 10000.
        datetime.fromtimestamp(moment.timestamp(), UTC)
        return moment
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{field} is {text!r}, which is not a time like 2024-01-31T12:00:00Z") from None
