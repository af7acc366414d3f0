"""Reads a repository's history from GitHub, as much of it as is not known yet.

Who wrote `mozilla/rust#12` of rust-lang/rust before it moved meant its own issue: GitHub leads from a former name to
the present one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from bot.domain.entities import RepoRef
from bot.domain.errors import Forbidden, InvalidArgument, NotFound
from bot.github.repository import RepoClient
from bot.quality.evaluation.history import KeptHistory, PastRecord, Row, record, rows
from bot.quality.evaluation.statements import Statement

# A busy repository changes while it is read; what changes during the second reading may wait for the next evaluation.
_ROUNDS = 2


def read_history(
    github: RepoClient, repo: RepoRef, home: Path, tell: Callable[[int, int], None], *, fresh: bool = False
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


#: Places that are asked about at most, those that are named most.
MOST = 5


def former_names(github: RepoClient, repo_id: int, said: Iterable[Statement]) -> frozenset[str]:
    """Of the places that statements name, which lead to this repository today; in small letters.

    GitHub leads from a former name to the present one. Raises RateLimited and Unavailable; what is not to be seen is
    somewhere else.
    """
    places = Counter(one.elsewhere.partition("#")[0] for one in said if one.elsewhere)
    found = set()
    for place, _ in places.most_common(MOST):
        with suppress(NotFound, Forbidden, InvalidArgument):
            if github.repository(RepoRef.parse(place)).id == repo_id:
                found.add(place)
    return frozenset(found)


def at_home(said: Iterable[Statement], former: Collection[str]) -> tuple[Statement, ...]:
    """The same statements, in which what one of the former names has is of this repository. Pure."""
    return tuple(_at_home(one, former) for one in said)


def _at_home(one: Statement, former: Collection[str]) -> Statement:
    place, _, number = one.elsewhere.partition("#")
    return replace(one, of=int(number), elsewhere="") if place in former else one
