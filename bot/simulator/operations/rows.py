"""Reads and checks a file of issues, before any issue is put into a repository."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from bot.domain.entities import NOBODY
from bot.simulator.state.issues import BODY_MAX, REACTIONS, TITLE_MAX, StateReason
from bot.simulator.state.repositories import LABEL_MAX

T = TypeVar("T")

# The first moment of the calendar stands for an unknown time.
_UNKNOWN = datetime.min.replace(tzinfo=UTC)
_EPOCH = datetime.fromtimestamp(0, UTC)

_GZIPPED = b"\x1f\x8b"

# Surrogates that JSON's escapes (`\ud…`) leave unpaired. No UTF-8 text can contain them.
_UNPAIRED_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CommentRow:
    """One comment below an issue of the file."""

    author: str
    created_at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class IssueRow:
    """One issue of the file, its texts cut to GitHub's limits.

    `closed_by` is empty if the file lacks it. `duplicate_of` is None if the file lacks it.
    """

    id: str
    title: str
    body: str
    created_at: datetime
    closed_at: datetime | None
    author: str
    closed_by: str
    duplicate_of: str | None
    labels: tuple[str, ...]
    state_reason: StateReason | None
    reactions: Mapping[str, int]  # Counts by GitHub's names of emoji, such as "+1" and "heart".
    comments: tuple[CommentRow, ...]


def read_rows(path: Path) -> list[IssueRow]:
    """The issues of a JSON Lines file, perhaps compressed with gzip, in order of arrival.

    Raises OSError if the file cannot be read, and ValueError (with a wrong line's number) if its content is wrong.
    """
    return rows_of(_lines(path))


def rows_of(objects: Iterable[tuple[Any, str]]) -> list[IssueRow]:
    """Like `read_rows`, but takes JSON objects, each with its location (`line 3`). A ValueError names the location.

    Issues whose `created_at` is null come first. They get the earliest known `created_at`, or 1970 if all are null.
    """
    rows = sorted((_row(value, location) for value, location in objects), key=lambda row: row.created_at)
    first = next((row.created_at for row in rows if row.created_at != _UNKNOWN), _EPOCH)
    return [replace(row, created_at=first) if row.created_at == _UNKNOWN else row for row in rows]


def _lines(path: Path) -> Iterator[tuple[Any, str]]:
    try:
        with path.open("rb") as raw:
            plain = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIPPED else raw
            # Some editors put a byte order mark before the first line.
            for number, line in enumerate(io.TextIOWrapper(plain, encoding="utf-8-sig"), 1):
                if line.strip():
                    yield _json(line, number), f"line {number}"
    except UnicodeDecodeError as problem:
        if problem.object.startswith(_GZIPPED):
            raise ValueError("it is gzipped more than once; gunzip it, then it can be read") from None
        # The message names no line: the decoder's position is relative to a chunk, not to the file.
        raise ValueError("it is not UTF-8; iconv -f ENCODING -t UTF-8 makes it so") from None
    except (EOFError, zlib.error) as problem:
        # A truncated download raises these errors. Raise ValueError instead: click takes an EOFError for an abort.
        raise ValueError(str(problem)) from problem


def _json(line: str, number: int) -> Any:
    """The line's value, with a replacement character for each unpaired surrogate."""
    # `gh issue list --json`, for example, prints one list.
    if line.lstrip().startswith("["):
        raise ValueError(f"line {number} begins a list, not JSON Lines; jq -c '.[]' makes lines of it")
    try:
        row = json.loads(line)
        if "\\ud" in line.lower():
            row = json.loads(_UNPAIRED_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", json.dumps(row, ensure_ascii=False)))
        return row
    except json.JSONDecodeError as problem:
        raise ValueError(f"line {number} is not JSON ({problem.msg})") from None
    except RecursionError:
        raise ValueError(f"line {number} is nested too deeply") from None


def _row(row: Any, location: str) -> IssueRow:
    if not isinstance(row, Mapping):
        raise ValueError(f"{location} is not a JSON object")
    is_missing = {"id": row.get("id") is None, "created_at": "created_at" not in row}
    if names := [name for name in is_missing if is_missing[name]]:
        raise ValueError(f"{location} has no {' and no '.join(names)}")
    try:
        closed = _time("closed_at", row["closed_at"]) if row.get("closed_at") else None
        return IssueRow(
            id=_text("id", row["id"]),
            title=_text("title", row.get("title")).strip()[:TITLE_MAX] or "(no title)",
            body=_text("body", row.get("body"))[:BODY_MAX],
            created_at=_UNKNOWN if row["created_at"] is None else _time("created_at", row["created_at"]),
            closed_at=closed,
            author=_text("author", row.get("author")) or NOBODY,
            closed_by=_text("closed_by", row.get("closed_by")),
            duplicate_of=_text("duplicate_of", row.get("duplicate_of")) or None,
            labels=tuple(filter(None, dict.fromkeys(_list("labels", row.get("labels"), _label)))),
            state_reason=_reason(row.get("state_reason"), closed is not None),
            reactions=_reactions(row.get("reactions")),
            comments=tuple(_list("comments", row.get("comments"), _comment)),
        )
    except ValueError as problem:
        raise ValueError(f"{location}: {problem}") from None


def _comment(row: Any) -> CommentRow:
    if not isinstance(row, Mapping) or "created_at" not in row:
        raise ValueError("a comment is an object with author, created_at and body")
    when, body = _time("created_at of a comment", row["created_at"]), _text("body of a comment", row.get("body"))
    return CommentRow(_text("author of a comment", row.get("author")) or NOBODY, when, body[:BODY_MAX])


def _text(field: str, value: Any) -> str:
    """A text, which may be missing; a number becomes text."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{field} is not a text")
    return str(value)


def _list(field: str, value: Any, read: Callable[[Any], T]) -> list[T]:
    if value is not None and not isinstance(value, list | tuple):
        raise ValueError(f"{field} is not a list")
    return [read(one) for one in value or ()]


def _label(label: Any) -> str:
    """A label's name, perhaps empty: JSON made from tables has one empty label for an issue without labels."""
    return _text("a label", label.get("name") if isinstance(label, Mapping) else label).strip()[:LABEL_MAX]


def _reactions(value: Any) -> Mapping[str, int]:
    counts = {} if value is None else value
    if not isinstance(counts, Mapping) or not all(type(count) is int and count >= 0 for count in counts.values()):
        raise ValueError('reactions is not an object with numbers, such as {"+1": 3}')
    for content in counts:
        if content not in REACTIONS:
            raise ValueError(f"{content!r} is no reaction of GitHub's")
    return counts


def _reason(value: Any, closed: bool) -> StateReason | None:
    """The reason for an issue's state. An open issue's reason is "reopened" or None."""
    if not closed:
        return "reopened" if value == "reopened" else None
    reason = value or "completed"
    if reason == "reopened" or reason not in get_args(StateReason):
        raise ValueError(f"{reason!r} is no reason for closing an issue")
    return cast("StateReason", reason)


def _time(field: str, text: Any) -> datetime:
    """An ISO 8601 time as an aware datetime in UTC; without a zone it counts as UTC."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{field} is {text!r}, which is not a time like 2024-01-31T12:00:00Z") from None
