"""Reads a repository's history from GitHub, as much of it as is not known yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Protocol

from bot.evaluation.former import at_home, former_names
from bot.evaluation.history import PastRecord, Row, record, rows
from bot.evaluation.history_file import KeptHistory
from bot.github.repository.changes import ChangesPage
from bot.github.repository.history import HistoryPage
from bot.model import RepoRef, Repository

# A busy repository changes while it is read; what changes during the second reading may wait for the next evaluation.
_ROUNDS = 2


class HistoryReader(Protocol):
    """The reads of GitHub that are needed here."""

    def repository(self, repo: RepoRef) -> Repository: ...

    def changed_issues(self, repo: RepoRef, *, since: str = "", etag: str = "") -> ChangesPage: ...

    def history(self, repo: RepoRef, since: str = "") -> Iterator[HistoryPage]: ...


def read_history(
    github: HistoryReader, repo: RepoRef, home: Path, tell: Callable[[int, int], None], *, fresh: bool = False
) -> tuple[int, list[Row]]:
    """A repository's id, and its rows in the order of arrival; `home` keeps what was read, `fresh` reads all again.

    Asks first whether anything has changed, which costs nothing where nothing has; then only for what has. `tell` hears
    how many issues were read of how many. Raises NotFound, Forbidden, RateLimited, Unavailable; what was read until
    then is kept. Raises UserError where it cannot be kept, or was erased meanwhile.
    """
    found = github.repository(repo)
    kept = KeptHistory(home, found.id, found.ref, fresh=fresh)
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
    former = former_names(github, found.id, chain.from_iterable(one.statements for one in records))
    return found.id, rows((replace(one, statements=at_home(one.statements, former)) for one in records), found.ref)


def _is_known(kept: PastRecord | None, updated_at: datetime) -> bool:
    return kept is not None and datetime.fromisoformat(kept.updated_at) >= updated_at
