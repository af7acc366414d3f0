"""A file of past issues, one JSON object a line, plain or gzipped: `id, title, body, created_at, closed_at, …`.

Only what was known when an issue arrived is read. `duplicate_of` and all other fields never leave the line.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.errors import UserError
from bot.model import NOBODY
from bot.moments import aware


@dataclass(frozen=True, slots=True)
class PastIssue:
    """One issue of the file. `id` is the file's own, a number or a string such as `TIMOB-1`.

    `dated` says whether `created_at` is the file's own, too, and no other issue's.
    """

    id: int | str
    title: str
    body: str
    created_at: datetime
    closed_at: datetime | None
    author: str
    labels: tuple[str, ...]
    dated: bool = True


Archive = list[PastIssue]

# The first moment of the calendar stands for a time that the file does not know.
_UNKNOWN = datetime.min.replace(tzinfo=UTC)
_EPOCH = datetime.fromtimestamp(0, UTC)

_GZIPPED = b"\x1f\x8b"

LINE_MAX = 16 * 1024 * 1024
"""Characters in a line. GitHub's longest body has 65,536, other trackers have longer ones; without a bound a small
compressed file could fill the memory with one line.
"""


def read_archive(path: Path) -> Archive:
    """All issues in order of arrival. Raises UserError naming the line that cannot be read, and where there is none."""
    archive = archive_of(read_rows(path))
    if not archive:
        raise UserError(f"{path}: there is no issue in it")
    return archive


def archive_of(rows: Iterable[tuple[Any, str]]) -> Archive:
    """The same from rows with the place where each stands. Raises UserError naming the place of a wrong one.

    An id belongs to one issue: of two that share it no answer could say which is meant. Issues whose `created_at` is
    null come before all others, at the time of the first of these.
    """
    issues, places = [], dict[int | str, str]()
    for row, place in rows:
        issue = _issue(row, place)
        if issue.id in places:
            raise UserError(f"{place}: {issue.id!r} is the id of more than one issue, see {places[issue.id]}")
        places[issue.id] = place
        issues.append(issue)
    # Issues of one second keep the order of their ids; numbers are compared as numbers, which padding does.
    issues.sort(key=lambda issue: (issue.created_at, str(issue.id).zfill(12)))
    first = next((issue.created_at for issue in issues if issue.created_at != _UNKNOWN), _EPOCH)
    return [
        replace(issue, created_at=first, dated=False) if issue.created_at == _UNKNOWN else issue for issue in issues
    ]


def read_rows(path: Path) -> Iterator[tuple[Any, str]]:
    """The lines of a file as they stand, with their places.

    Whether it is compressed is seen by how it begins, since a pipe has no name that could say so. Raises UserError for
    a file that cannot be read, naming the line where it is one that is not JSON or longer than LINE_MAX.
    """
    try:
        with path.open("rb") as raw:
            plain = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIPPED else raw
            # What editors on Windows put before a text is no part of it.
            text = io.TextIOWrapper(plain, encoding="utf-8-sig")
            for count, line in enumerate(iter(lambda: text.readline(LINE_MAX + 1), ""), 1):
                place = f"{path}, line {count}"
                if len(line) > LINE_MAX:
                    raise UserError(f"{place}: longer than {LINE_MAX:,} characters")
                if line.strip():
                    # What `gh issue list --json` prints, for example.
                    if line.lstrip().startswith("["):
                        raise UserError(f"{place}: not JSON Lines but a list; jq -c '.[]' makes lines of it")
                    try:
                        row = json.loads(line)
                    except json.JSONDecodeError as problem:
                        # Not what the problem itself says of its place: to the decoder each line is the first.
                        says = f"not JSON: {problem.msg} at character {problem.pos + 1}"
                        raise UserError(f"{place}: {says}") from None
                    except (ValueError, RecursionError) as problem:
                        raise UserError(f"{place}: not JSON: {problem}") from None
                    yield row, place
    except UnicodeDecodeError as problem:
        if problem.object.startswith(_GZIPPED):
            raise UserError(f"{path}: gzipped more than once; gunzip it, then it can be read") from None
        # The place that the decoder tells is one in the piece that it was given, not in the file.
        raise UserError(f"{path}: not UTF-8; iconv -f ENCODING -t UTF-8 makes it so") from None
    except (OSError, EOFError, zlib.error) as problem:
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
            created_at=_UNKNOWN if row["created_at"] is None else _time("created_at", row["created_at"]),
            closed_at=_time("closed_at", closed) if closed else None,
            author=str(row.get("author") or NOBODY),
            labels=tuple(_label(label) for label in row.get("labels") or ()),
        )
    except KeyError as missing:
        raise UserError(f"{place}: {missing.args[0]} is missing") from None
    except (TypeError, ValueError) as problem:
        raise UserError(f"{place}: {problem!s}") from None


def _label(label: Any) -> str:
    return str(label["name"] if isinstance(label, Mapping) else label)


def _time(field: str, text: Any) -> datetime:
    try:
        moment = aware(datetime.fromisoformat(text)).astimezone(UTC)
        # At both ends of the calendar there are moments that cannot be kept as seconds since 1970.
        datetime.fromtimestamp(moment.timestamp(), UTC)
        return moment
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{field} is {text!r}, which is not a time like 2024-01-31T12:00:00Z") from None
