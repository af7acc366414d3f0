"""Reads a repository's issues and their marks from GitHub, keeps both in a file, and turns them into rows for a replay.

A row leaves out the issue's labels: GitHub gives only today's labels, some of them added after the arrival.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.domain.entities import NOBODY, RepoRef
from bot.domain.errors import UserError
from bot.github.repository import RepoClient
from bot.platform.private_files import make_folder, open_existing, open_new
from bot.quality.evaluation.statements import HISTORY_VERSION, Statement, StatementKind, read_comment
from bot.text.github_urls import named_issues

# GitHub's `authorAssociation` of today's members.
MEMBERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})

_MARKS = {"MarkedAsDuplicateEvent": StatementKind.MARKS, "UnmarkedAsDuplicateEvent": StatementKind.UNMARKS}
# A person's comment and closing within this time belong together, as in GitHub's "Close with comment".
_TOGETHER = timedelta(minutes=5)
# Labels such as `duplicate`, `type: duplicate`, `status/duplicate`.
_LABEL = re.compile(r"(?:^|[^a-z])(?:duplicate|dupe)(?:[^a-z]|$)", re.IGNORECASE)
# Labels such as `possible-duplicate` or `not-a-duplicate`.
_UNSURE_LABEL = re.compile(
    r"(?:^|[^a-z])(?:not?|non|possibl[ey]|potential(?:ly)?|probabl[ey]|likely|maybe|might|suspected|check)(?:[^a-z]|$)|\?",
    re.IGNORECASE,
)

IssueRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PastRecord:
    """One issue as the file stores it, without the texts of comments. Times are ISO 8601.

    `closed_by` is the login of the person who closed the issue; empty if nobody, the author or an App closed it.
    """

    number: int
    title: str
    body: str
    author: str
    created_at: str
    updated_at: str
    closed_at: str | None
    closed_as_duplicate: bool
    statements: tuple[Statement, ...]
    closed_by: str = ""

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> PastRecord:
        """A record that `HistoryFile.add` wrote. Raises KeyError, TypeError or ValueError for a malformed row."""
        statements = (Statement(**{**fields, "kind": StatementKind(fields["kind"])}) for fields in row["statements"])
        return cls(**{**row, "statements": tuple(statements)})


def _statement(comment: Mapping[str, Any], repo: RepoRef, closing: Mapping[str, Any] | None) -> Statement | None:
    """A comment's statement about duplicates, if any; `closing` is the event by which a person closed the issue."""
    author = comment["author"] or {}
    if author.get("__typename") == "Bot":
        # Bots often name candidates, and this bot most of all.
        return None
    login = author.get("login")
    return read_comment(
        comment["body"],
        repo,
        comment["createdAt"],
        by_member=comment["authorAssociation"] in MEMBERS,
        by=login or "",
        closing=closing is not None and login == closing["actor"]["login"] and _together(comment, closing),
    )


def _together(comment: Mapping[str, Any], closing: Mapping[str, Any]) -> bool:
    one, other = (datetime.fromisoformat(event["createdAt"]) for event in (comment, closing))
    return abs(one - other) <= _TOGETHER


def record(node: Mapping[str, Any], repo: RepoRef) -> PastRecord:
    """The record of an issue from a node that `bot.github.changes` returned."""
    author = node["author"] or {}
    # An App that closes old issues has no opinion on duplicates.
    closings = [event for event in node["closings"]["nodes"] if event and event["actor"]]
    closing = next((event for event in closings if event["actor"]["__typename"] != "Bot"), None)
    closer = closing["actor"]["login"] if closing else ""
    marks = [_mark(event) for event in node["timelineItems"]["nodes"] if event]
    comments = [_statement(comment, repo, closing) for comment in node["comments"]["nodes"] if comment]
    labels = [label["name"] for label in (node["labels"] or {}).get("nodes") or () if label]
    labelled = any(_LABEL.search(name) and not _UNSURE_LABEL.search(name) for name in labels)
    return PastRecord(
        number=node["number"],
        title=node["title"],
        body=node["body"] or "",
        author=_login(author),
        created_at=node["createdAt"],
        updated_at=node["updatedAt"],
        closed_at=node["closedAt"],
        closed_as_duplicate=node["stateReason"] == "DUPLICATE" or labelled,
        statements=tuple(sorted([*marks, *filter(None, comments)], key=lambda one: one.at)),
        closed_by=closer if closer != author.get("login") else "",
    )


def _login(author: Mapping[str, Any]) -> str:
    """The login as REST writes it; GraphQL leaves out `[bot]` at the end of an App's login."""
    login = author.get("login") or NOBODY
    return f"{login.removesuffix('[bot]')}[bot]" if author.get("__typename") == "Bot" else login


def _mark(event: Mapping[str, Any]) -> Statement:
    original = None if event["isCrossRepository"] else (event["canonical"] or {}).get("number")
    return Statement(_MARKS[event["__typename"]], original, event["createdAt"])


def rows(records: Iterable[PastRecord], repo: RepoRef) -> list[IssueRow]:
    """The rows in order of arrival, with `duplicate_of` only for certain duplicates. docs/evaluate.md lists the fields.

    GitHub names only today's members. `maintainers` adds people who closed another's issue, and so had triage access.
    """
    ordered = sorted(records, key=lambda one: (one.created_at, one.number))
    known = {one.number for one in ordered}
    maintainers = {one.closed_by for one in ordered if one.closed_by}
    return [_row(one, known, maintainers, repo) for one in ordered]


def _row(one: PastRecord, known: set[int], maintainers: Collection[str], repo: RepoRef) -> IssueRow:
    row: IssueRow = {
        "id": one.number,
        "title": one.title,
        "body": one.body,
        "created_at": one.created_at,
        "closed_at": one.closed_at,
        "author": one.author,
    }
    certain, original = conclusion(one.statements, maintainers, closed_as_duplicate=one.closed_as_duplicate)
    if certain and one.closed_at is None:
        # The issue is open: somebody disagrees that it is a duplicate.
        return row | {"maybe_related": True}
    if certain and original in known and original != one.number:
        row["duplicate_of"] = original
        if _text_names(one, original, repo):
            row["body_mentions_master"] = True
    elif certain:
        row["dup_unknown_master"] = True
    elif any(statement.kind is StatementKind.HINTS for statement in one.statements):
        row["maybe_related"] = True
    return row


def conclusion(
    statements: Sequence[Statement], maintainers: Collection[str], *, closed_as_duplicate: bool
) -> tuple[bool, int | None]:
    """Whether an issue is a duplicate, and the original's number (None: not known). The last certain statement counts.

    A plain statement (no guess) by one of the `maintainers` is certain even if that person is no member today. The
    removal of a mark cancels a certain statement about the same original. If the issue was closed or labelled as a
    duplicate, a hint is enough to name the original.
    """
    certain, original = False, None
    hint = None
    for statement in statements:
        # `read_comment` sets `by` only for a plain statement by somebody who is no member today.
        if statement.kind in (StatementKind.SAYS, StatementKind.MARKS) or statement.by in maintainers:
            certain, original = True, statement.of
        elif statement.kind is StatementKind.UNMARKS and statement.of == original:
            certain, original = False, None
        elif statement.kind is StatementKind.HINTS:
            hint = statement.of
    if closed_as_duplicate and not certain:
        return True, hint
    return certain, original


def _text_names(one: PastRecord, number: int, repo: RepoRef) -> bool:
    """Whether an issue's text names the issue `number`. The finder never suggests an issue that the text names.

    The file does not store the repository's host. So addresses of the repository count on any host.
    """
    host = rf"(?<=://)[^/\s]+(?=/{re.escape(str(repo))}/)"
    text = re.sub(host, "github.com", f"{one.title}\n{one.body}", flags=re.IGNORECASE)
    return f"{repo}#{number}".lower() in named_issues(text, repo)


def erase_history(home: Path, repo_id: int) -> None:
    _file(home, repo_id).unlink(missing_ok=True)


def stored_issues(home: Path, repo_id: int) -> Iterator[dict[str, Any]]:
    """The issues in a repository's file, up to the first broken line. Yields all versions of an issue, oldest first."""
    with suppress(FileNotFoundError, TypeError, ValueError), _file(home, repo_id).open(encoding="utf-8") as file:
        for line in file:
            if "issue" in (row := json.loads(line)):
                yield row["issue"]


def repositories_with_history(home: Path) -> dict[int, str]:
    """The names of the repositories with a history, by GitHub's id; an unreadable file has an empty name."""
    names = {}
    for path in (home / "history").glob("*.jsonl"):
        if path.stem.isascii() and path.stem.isdigit():
            names[int(path.stem)] = _name(path)
    return names


def _name(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return str(json.loads(file.readline())["repository"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _file(home: Path, repo_id: int) -> Path:
    return home / "history" / f"{repo_id}.jsonl"


class HistoryFile:
    """The history of one repository in a file of JSON lines, with `records` by issue number.

    The first line has the file's version; each further line has an issue, and an issue's last line counts. Raises
    UserError if the file cannot be read or written, or was erased meanwhile.
    """

    def __init__(self, home: Path, repo_id: int, repo: RepoRef, *, fresh: bool = False) -> None:
        self.records: dict[int, PastRecord] = {}
        self._path = _file(home, repo_id)
        self._header = {"version": HISTORY_VERSION, "repository": str(repo)}
        if fresh or not self._read():
            self._write([self._header])

    @property
    def newest(self) -> str:
        """The time of the latest change to any issue; empty without issues."""
        return max((record.updated_at for record in self.records.values()), default="")

    def add(self, records: Iterable[PastRecord]) -> None:
        """Append the new and changed issues to the file immediately."""
        changed = {one.number: one for one in records if self.records.get(one.number) != one}
        self._append({"issue": asdict(one)} for one in changed.values())
        self.records |= changed

    def _read(self) -> bool:
        """Read the records up to the first broken line, which a killed process may have left.

        Returns whether the file begins with a line of this version.
        """
        lines: list[dict[str, Any]] = []
        try:
            with self._path.open(encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    if lines:  # The first line, the header, has been read.
                        one = PastRecord.from_json(row["issue"])
                        self.records[one.number] = one
                    elif row["version"] != HISTORY_VERSION:
                        return False
                    lines.append(row)
        except FileNotFoundError:
            pass
        except (LookupError, TypeError, ValueError):
            # Rewrite the file, so that new lines are not appended to half a line.
            self._write(lines)
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}") from None
        return bool(lines)

    def _write(self, lines: Iterable[dict[str, Any]]) -> None:
        try:
            make_folder(self._path.parent)
            with open_new(self._path) as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}; DOPPEL_HOME names the folder") from None

    def _append(self, lines: Iterable[dict[str, Any]]) -> None:
        """Append lines. Raises UserError on failure, and if the file is gone: an erased history must not come back."""
        try:
            with open_existing(self._path) as file:
                file.seek(0, os.SEEK_END)
                file.writelines(json.dumps(line) + "\n" for line in lines)
        except FileNotFoundError:
            raise UserError(f"{self._path}: the file was erased while issues were read; run this again") from None
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}; what was read before is kept") from None


def read_history(
    github: RepoClient, repo: RepoRef, home: Path, tell: Callable[..., object], *, fresh: bool = False
) -> tuple[int, list[IssueRow]]:
    """Read the changed issues from GitHub; return the repository's id and its rows in order of arrival.

    `home` is the data directory; with `fresh` everything is read again. Calls `tell` with two numbers of issues:
    `completed` (read so far) and `total` (to read). Raises NotFound, Forbidden, RateLimited and Unavailable; a new
    call without `fresh` continues the reading. Raises UserError as `HistoryFile` does.
    """
    found = github.repository(repo)
    history = HistoryFile(home, found.id, found.ref, fresh=fresh)
    read = 0
    for batch in github.history(found.ref, history.newest):
        history.add(record(node, found.ref) for node in batch.issues)
        read += len(batch.issues)
        tell(completed=read, total=batch.total)
    return found.id, rows(history.records.values(), found.ref)
