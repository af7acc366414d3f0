"""A repository's own history as rows of the shared format, with `duplicate_of` from what its members said, and the file
that keeps it.

Labels of issues are left out of the rows: they are those of today, and a replay must not see what came later.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from bot.domain.entities import NOBODY, RepoRef
from bot.domain.errors import Forbidden, InvalidArgument, NotFound, UserError
from bot.github.repository import RepoClient
from bot.platform.private_files import make_folder, open_kept, open_new
from bot.quality.evaluation.statements import READING, Statement, StatementKind, read_comment
from bot.text.github_urls import named_issues

MEMBERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})

_MARKS = {"MarkedAsDuplicateEvent": StatementKind.MARKS, "UnmarkedAsDuplicateEvent": StatementKind.UNMARKS}
# GitHub's "Close with comment" does one right after the other.
_TOGETHER = timedelta(minutes=5)
# A label such as `duplicate`, `type: duplicate`, `status/duplicate`: it is one, of whatever.
_LABEL = re.compile(r"(?:^|[^a-z])(?:duplicate|dupe)(?:[^a-z]|$)", re.IGNORECASE)
# One such as `possible-duplicate` only supposes it, or denies it.
_UNSURE_LABEL = re.compile(
    r"(?:^|[^a-z])(?:not?|non|possibl[ey]|potential(?:ly)?|probabl[ey]|likely|maybe|might|suspected|check)(?:[^a-z]|$)|\?",
    re.IGNORECASE,
)

LabelledRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PastRecord:
    """One issue as it is kept: what a row needs, and no text of comments. Times are ISO 8601 as GitHub writes them.

    `closed_by` is who closed it for somebody else, which only people can who may triage; empty where nobody did.
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

    def to_json(self) -> LabelledRow:
        """An object for one line of a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> PastRecord:
        """The record that `to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        said = (Statement(**one | {"kind": StatementKind(one["kind"])}) for one in row["statements"])
        return cls(**{**row, "statements": tuple(said)})


def _statement(comment: Mapping[str, Any], repo: RepoRef, closing: Mapping[str, Any] | None) -> Statement | None:
    """What a comment says, if it does; `closing` is the event by which a person has closed the issue."""
    author = comment["author"] or {}
    if author.get("__typename") == "Bot":
        # Bots name candidates all the time, this one first of all.
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


def _person(actor: Mapping[str, Any] | None) -> bool:
    """Whether it is known who it is, and not an App: what closes old issues has no opinion of duplicates."""
    return actor is not None and actor["__typename"] != "Bot"


def _together(comment: Mapping[str, Any], closing: Mapping[str, Any]) -> bool:
    one, other = (datetime.fromisoformat(event["createdAt"]) for event in (comment, closing))
    return abs(one - other) <= _TOGETHER


def record(node: Mapping[str, Any], repo: RepoRef) -> PastRecord:
    """The record of an issue as `bot.github.changes` gives it."""
    author = node["author"] or {}
    closing = next((event for event in node["closings"]["nodes"] if event and _person(event["actor"])), None)
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
    """As REST writes it: GraphQL leaves out what makes an App's login known as one."""
    login = author.get("login") or NOBODY
    return f"{login.removesuffix('[bot]')}[bot]" if author.get("__typename") == "Bot" else login


def _mark(event: Mapping[str, Any]) -> Statement:
    original = (event["canonical"] or {}).get("number")
    return Statement(_MARKS[event["__typename"]], None if event["isCrossRepository"] else original, event["createdAt"])


def rows(records: Iterable[PastRecord], repo: RepoRef) -> list[LabelledRow]:
    """The rows in the order of arrival. `duplicate_of` stands only where it is sure; doubt is said as doubt.

    GitHub says who is a member today. Who has ever closed an issue of somebody else was one then.
    """
    ordered = sorted(records, key=lambda one: (one.created_at, one.number))
    known = {one.number for one in ordered}
    maintainers = {one.closed_by for one in ordered if one.closed_by}
    return [_row(one, known, maintainers, repo) for one in ordered]


def _row(one: PastRecord, known: set[int], maintainers: Collection[str], repo: RepoRef) -> LabelledRow:
    row: LabelledRow = {
        "id": one.number,
        "title": one.title,
        "body": one.body,
        "created_at": one.created_at,
        "closed_at": one.closed_at,
        "author": one.author,
    }
    certain, original = conclusion(one.statements, maintainers, closed_as_duplicate=one.closed_as_duplicate)
    if certain and one.closed_at is None:
        # Open (again): somebody sees it otherwise by now.
        return row | {"maybe_related": True}
    if certain and original in known and original != one.number:
        row["duplicate_of"] = original
        if _names(one, original, repo):
            row["body_mentions_master"] = True
    elif certain:
        row["dup_unknown_master"] = True
    elif any(said.kind is StatementKind.HINTS for said in one.statements):
        row["maybe_related"] = True
    return row


def conclusion(
    statements: Sequence[Statement], maintainers: Collection[str], *, closed_as_duplicate: bool
) -> tuple[bool, int | None]:
    """Whether an issue is a duplicate, and of which number (None: not known). The last word counts.

    What one of the `maintainers` says plainly is said, whatever they are today.
    A mark that was taken back ends what was said of the same original. Where the reason of closing or a label says
    that it is a duplicate, a hint at the original is enough.
    """
    certain, original = False, None
    hint = None
    for said in statements:
        if said.kind in (StatementKind.SAYS, StatementKind.MARKS) or said.by in maintainers:
            certain, original = True, said.of
        elif said.kind is StatementKind.UNMARKS and said.of == original:
            certain, original = False, None
        elif said.kind is StatementKind.HINTS:
            hint = said.of
    if closed_as_duplicate and not certain:
        return True, hint
    return certain, original


def _names(one: PastRecord, number: int, repo: RepoRef) -> bool:
    """Whether an issue's text names another of its repository: the finder, asked about it, leaves that one out.

    Which host the repository is on is not kept, so that its addresses count on any.
    """
    host = rf"(?<=://)[^/\s]+(?=/{re.escape(str(repo))}/)"
    text = re.sub(host, "github.com", f"{one.title}\n{one.body}", flags=re.IGNORECASE)
    return f"{repo}#{number}".lower() in named_issues(text, repo)


def erase_history(home: Path, repo_id: int) -> None:
    """Erase what was read of a repository, by GitHub's id; nothing, where nothing was read."""
    _file(home, repo_id).unlink(missing_ok=True)


def stored_issues(home: Path, repo_id: int) -> Iterator[dict[str, Any]]:
    """The issues as they were read, the last reading of one last; none, where nothing was read.

    What follows a line that was cut off is lost, as it is for who reads on.
    """
    with suppress(FileNotFoundError, ValueError), _file(home, repo_id).open(encoding="utf-8") as file:
        for line in file:
            if "issue" in (row := json.loads(line)):
                yield row["issue"]


def repositories_with_history(home: Path) -> dict[int, str]:
    """The repositories whose histories are kept: their names by GitHub's id. What cannot be read has an empty name."""
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
    """`records` by number; `etag` is that of the last look, empty where the last reading broke off.

    Raises UserError where its file cannot be read or written, or was erased meanwhile.
    """

    def __init__(self, home: Path, repo_id: int, repo: RepoRef, *, fresh: bool = False) -> None:
        self.records: dict[int, PastRecord] = {}
        self.etag = ""
        self._path = _file(home, repo_id)
        self._first = {"version": READING, "repository": str(repo)}
        lines = [] if fresh else self._lines()
        if lines and lines[0].get("version") == READING:
            for line in lines[1:]:
                self._take(line)
        else:
            self._start()

    @property
    def newest(self) -> str:
        """When the issue that was changed last was changed; empty for a history that has not begun."""
        return max((record.updated_at for record in self.records.values()), default="")

    def add(self, records: Iterable[PastRecord]) -> None:
        """Keep issues, at once."""
        rows: list[dict[str, Any]] = [{"issue": record.to_json()} for record in records]
        self._append(rows)
        for row in rows:
            self._take(row)

    def finish(self, etag: str) -> None:
        """Everything has been read."""
        self._append([{"etag": etag}])
        self.etag = etag

    def _take(self, line: dict[str, Any]) -> None:
        if "issue" in line:
            record = PastRecord.from_json(line["issue"])
            self.records[record.number] = record
        self.etag = line.get("etag", "")

    def _lines(self) -> list[dict[str, Any]]:
        """What the file holds; the last line may have been cut off in the middle, and what follows it is lost."""
        lines: list[dict[str, Any]] = []
        try:
            with self._path.open(encoding="utf-8") as file:
                for line in file:
                    lines.append(json.loads(line))
        except FileNotFoundError:
            pass
        except ValueError:
            # Written anew, so that what is appended does not follow half a line.
            self._write(lines)
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}") from None
        return lines

    def _start(self) -> None:
        self._write([self._first])

    def _write(self, lines: Iterable[dict[str, Any]]) -> None:
        try:
            make_folder(self._path.parent)
            with open_new(self._path) as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}; DOPPEL_HOME names the folder") from None

    def _append(self, lines: Iterable[dict[str, Any]]) -> None:
        """Raises UserError where that fails, and where the file is gone: what was erased must not come back."""
        try:
            with open_kept(self._path) as file:
                file.seek(0, os.SEEK_END)
                file.writelines(json.dumps(line) + "\n" for line in lines)
        except FileNotFoundError:
            raise UserError(f"{self._path}: it was erased while it was being read; run it again") from None
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}; what was read before is kept") from None


# A busy repository changes while it is read; what changes during the second reading may wait for the next evaluation.
_ROUNDS = 2


def read_history(
    github: RepoClient, repo: RepoRef, home: Path, tell: Callable[[int, int], None], *, fresh: bool = False
) -> tuple[int, list[LabelledRow]]:
    """A repository's id, and its rows in the order of arrival; `home` keeps what was read, `fresh` reads all again.

    Asks first whether anything has changed, which costs nothing where nothing has; then only for what has. `tell` hears
    how many issues were read of how many. Raises NotFound, Forbidden, RateLimited, Unavailable; what was read until
    then is kept. Raises UserError where it cannot be kept, or was erased meanwhile.
    """
    found = github.repository(repo)
    kept = HistoryFile(home, found.id, found.ref, fresh=fresh)
    for _ in range(_ROUNDS):
        page = github.changed_issues(found.ref, since=kept.newest, etag=kept.etag)
        if page.unchanged:
            break
        if not page.more and all(_is_known(kept.records.get(issue.number), issue.updated_at) for issue in page.issues):
            kept.finish(page.etag)
            break
        read = 0
        for part in github.history(found.ref, kept.newest):
            kept.add(record(node, found.ref) for node in part.issues)
            read += len(part.issues)
            tell(read, part.total)
    records = list(kept.records.values())
    former = find_former_names(github, found.id, chain.from_iterable(one.statements for one in records))
    return found.id, rows(
        (replace(one, statements=resolve_former_names(one.statements, former)) for one in records), found.ref
    )


def _is_known(kept: PastRecord | None, updated_at: datetime) -> bool:
    return kept is not None and datetime.fromisoformat(kept.updated_at) >= updated_at


#: Places that are asked about at most, those that are named most.
MOST_FORMER_NAMES = 5


def find_former_names(github: RepoClient, repo_id: int, said: Iterable[Statement]) -> frozenset[str]:
    """Of the places that statements name, which lead to this repository today; in small letters.

    GitHub leads from a former name to the present one. Raises RateLimited and Unavailable; what is not to be seen is
    somewhere else.
    """
    places = Counter(one.elsewhere.partition("#")[0] for one in said if one.elsewhere)
    found = set()
    for place, _ in places.most_common(MOST_FORMER_NAMES):
        with suppress(NotFound, Forbidden, InvalidArgument):
            if github.repository(RepoRef.parse(place)).id == repo_id:
                found.add(place)
    return frozenset(found)


def resolve_former_names(said: Iterable[Statement], former: Collection[str]) -> tuple[Statement, ...]:
    """The same statements, in which what one of the former names has is of this repository. Pure."""
    return tuple(_at_home(one, former) for one in said)


def _at_home(one: Statement, former: Collection[str]) -> Statement:
    place, _, number = one.elsewhere.partition("#")
    return replace(one, of=int(number), elsewhere="") if place in former else one
