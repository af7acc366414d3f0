"""The backlog scan: finds for each issue the earlier ones that it repeats, and stores the answers.

Several processes read the index and judge; this one stores. A scan that was stopped goes on from the stored answers. An
answer holds as long as the same model judges, and neither text nor vectors of its issues have changed.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.domain.entities import Issue, RepoRef
from bot.domain.errors import GitHubError, Retryable
from bot.domain.formats import batches, counted
from bot.domain.report import Reason, ReasonCode
from bot.platform.processes import end_with_parent, signals_blocked
from bot.quality.feedback import decisions_on_pairs
from bot.quality.scanning.groups import THRESHOLD, BacklogIssue, ScanAnswer, ScanMatch, ScanResult, grouped
from bot.search.index import Index, View
from bot.search.index.database import among, upsert
from bot.search.matching import Matcher, Model
from bot.storage import Store
from bot.storage.engine import TableGateway, write
from bot.storage.schema import indexed_issues as issues
from bot.storage.schema import indexed_terms as terms
from bot.storage.schema import indexed_vectors as vectors
from bot.storage.schema import lock_index
from bot.storage.schema import scan_answers as table

#: Finds the matches of many issues, part by part.
MatchMany = Callable[[Sequence[int]], Iterable[list[ScanAnswer]]]

#: How many candidates an answer keeps, and their least confidence, below which no threshold can be set.
MOST, LEAST = 20, 0.05

# Issues that are read from the index at once.
_AT_ONCE = 50
# An issue needs a repository's name, but the index goes by the id.
_ANYWHERE = RepoRef("scan", "scan")


class BacklogMatcher:
    """Finds matches for issues of the index, as the bot does for a new issue. Cheap to build, without state."""

    def __init__(self, index: Index, model: Model) -> None:
        self._index = index
        self._matcher = Matcher(index, model, most=None)
        self._weights = model.digest

    def close(self) -> None:
        self._index.close()

    def version(self, repo_id: int) -> str:
        """The version of weights and vectors; answers of another version are outdated."""
        with self._index.view(repo_id) as view:
            return self._version(view)

    def ask(self, repo_id: int, numbers: Sequence[int]) -> list[ScanAnswer]:
        """An answer for each of the issues that are (still) in the index."""
        answers = []
        for part in batches(numbers, _AT_ONCE):
            with self._index.view(repo_id) as view:
                # Read before the texts, so that a later change makes the answer outdated.
                sequence, version = view.state.sequence, self._version(view)
                issues, texts = view.issues(part), view.texts(part)
            for number in part:
                if number in issues and number in texts:
                    target = issues[number]._replace(body=texts[number][1]).issue(_ANYWHERE, "")
                    answers.append(ScanAnswer(number, sequence, version, self._found(repo_id, target)))
        return answers

    def _version(self, view: View) -> str:
        return f"{self._weights} {view.state.model}".rstrip()

    def _found(self, repo_id: int, target: Issue) -> tuple[ScanMatch, ...]:
        with self._matcher.session(repo_id, target, below=target.number, stored=True) as look:
            found = []
            # Among equals the latest first, so that copies form one group, however many there are.
            matches = sorted(look.judge(), key=lambda match: (-match.confidence, -match.number))
            for match in matches[:MOST]:
                if match.confidence >= LEAST:
                    found.append(ScanMatch(match.number, match.confidence, match.reasons))
            return tuple(found)


#: Issues that a process gets at once: less than a second's work in a repository of 17,000, lost when it is stopped.
PART = 20
#: Up to this many are asked about in this process, because starting others would take longer.
FEW = 50

_asker: BacklogMatcher | None = None


def match_in_processes(
    make: Callable[[], BacklogMatcher], repo_id: int, numbers: Sequence[int], processes: int
) -> Iterator[list[ScanAnswer]]:
    """Yield answers part by part, in no order. `make` is pickled, and called once in each process.

    If you leave the iteration early, each process stops after its present part.
    """
    parts = list(batches(numbers, PART))
    if len(numbers) <= FEW:
        with closing(make()) as asker:
            for part in parts:
                yield asker.ask(repo_id, part)
        return
    context = multiprocessing.get_context("spawn")
    with signals_blocked(signal.SIGTERM):
        pool = ProcessPoolExecutor(min(processes, len(parts)) or 1, context, _begin, (make,))
    try:
        # The pool starts processes when it gets work.
        with signals_blocked(signal.SIGTERM):
            asked = [pool.submit(_ask, repo_id, part) for part in parts]
        for done in as_completed(asked):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(make: Callable[[], BacklogMatcher]) -> None:
    global _asker
    end_with_parent()
    _asker = make()


def _ask(repo_id: int, numbers: Sequence[int]) -> list[ScanAnswer]:
    assert _asker is not None
    return _asker.ask(repo_id, numbers)


_ROWS = 2_000


class ScanAnswers(TableGateway):
    """The `scan_answers` table, and what a scan needs of the index's tables."""

    def put(self, repo_id: int, answers: Sequence[ScanAnswer]) -> None:
        """Store answers of issues that are still there, over earlier ones."""
        rows = [
            (repo_id, one.number, one.sequence, one.model, json.dumps(list(map(_to_row, one.found)))) for one in answers
        ]
        with write(self._engine) as connection:
            # The answer of an issue that was deleted meanwhile would stay for ever.
            lock_index(connection, repo_id)
            asked = among(connection, issues.c.number, [one.number for one in answers])
            there = sa.select(issues.c.number).where(issues.c.repo_id == repo_id, asked)
            numbers = set(connection.execute(there).scalars())
            upsert(connection, table, [row for row in rows if row[1] in numbers])

    def all(self, repo_id: int) -> Iterator[ScanAnswer]:
        """All answers of a repository, read from the database piece by piece."""
        query = sa.select(table).where(table.c.repo_id == repo_id).order_by(table.c.number)
        with self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=_ROWS).execute(query):
                found = [_from_row(*stored) for stored in json.loads(row.candidates)]
                yield ScanAnswer(row.number, row.sequence, row.model, tuple(found))

    def drop_outdated(self, repo_id: int) -> None:
        """Delete the `outdated` answers."""
        numbers = self.outdated(repo_id)
        with write(self._engine) as connection:
            mine = sa.and_(table.c.repo_id == repo_id, among(connection, table.c.number, numbers))
            connection.execute(sa.delete(table).where(mine))

    def outdated(self, repo_id: int) -> list[int]:
        """The issues whose answers hold another issue that has changed since, in its text or its vectors."""
        changed: dict[int, int] = {}
        for part in (terms, vectors):
            for number, at in self._all(sa.select(part.c.number, part.c.changed).where(part.c.repo_id == repo_id)):
                changed[number] = max(at, changed.get(number, 0))
        return [
            answer.number
            for answer in self.all(repo_id)
            if any(changed.get(found.number, 0) > answer.sequence for found in answer.found)
        ]

    def forget(self, repo_id: int) -> None:
        """Delete all answers of a repository."""
        self._change(sa.delete(table).where(table.c.repo_id == repo_id))

    def missing(self, repo_id: int, model: str, *, closed: bool, after: int, limit: int | None) -> list[int]:
        """The issues above `after` without a valid answer, ascending; with `closed`, closed ones too."""
        mine = sa.and_(table.c.repo_id == issues.c.repo_id, table.c.number == issues.c.number)
        own = sa.and_(terms.c.repo_id == issues.c.repo_id, terms.c.number == issues.c.number)
        embedded = sa.and_(vectors.c.repo_id == issues.c.repo_id, vectors.c.number == issues.c.number)
        outdated = sa.or_(table.c.sequence < terms.c.changed, table.c.sequence < vectors.c.changed)
        query = (
            sa.select(issues.c.number)
            .join(terms, own)
            .outerjoin(vectors, embedded)
            .outerjoin(table, mine)
            .where(
                _in_backlog(repo_id, closed),
                issues.c.number > after,
                sa.or_(table.c.number.is_(None), table.c.model != model, outdated),
            )
            .order_by(issues.c.number)
            .limit(limit)
        )
        return [row.number for row in self._all(query)]

    def count_entries(self, repo_id: int, *, closed: bool) -> int:
        """How many issues there are to look through."""
        return int(self._scalar(sa.select(sa.func.count()).where(_in_backlog(repo_id, closed))) or 0)

    def entries(self, repo_id: int, *, closed: bool) -> list[BacklogIssue]:
        """The issues to look through, oldest first by `created_at` (D8), since a transferred one has a high number."""
        columns = ("number", "title", "state", "created_at", "thumbs_up", "thumbs_down", "comments")
        query = sa.select(*(issues.c[name] for name in columns)).where(_in_backlog(repo_id, closed))
        return [
            BacklogIssue(number, title, state, datetime.fromtimestamp(created, UTC), up, down, comments)
            for number, title, state, created, up, down, comments in self._all(
                query.order_by(issues.c.created_at, issues.c.number)
            )
        ]

    def put_reactions(self, repo_id: int, given: Mapping[int, tuple[int, int]]) -> None:
        """Store how many 👍 and 👎 issues have now, by number."""
        if given:
            change = (
                sa.update(issues)
                .where(issues.c.repo_id == repo_id, issues.c.number == sa.bindparam("at"))
                .values(thumbs_up=sa.bindparam("up"), thumbs_down=sa.bindparam("down"))
            )
            rows = [{"at": number, "up": up, "down": down} for number, (up, down) in sorted(given.items())]
            with write(self._engine) as connection:
                connection.execute(change, rows)


def _in_backlog(repo_id: int, closed: bool) -> sa.ColumnElement[bool]:
    """A repository's open issues; with `closed` also closed ones, unless they were closed as duplicates."""
    dealt_with = sa.or_(issues.c.duplicate_of.is_not(None), sa.func.coalesce(issues.c.state_reason, "") == "duplicate")
    opened = issues.c.state == "open"
    return sa.and_(issues.c.repo_id == repo_id, sa.or_(opened, sa.not_(dealt_with)) if closed else opened)


def _to_row(found: ScanMatch) -> list[Any]:
    return [found.number, round(found.confidence, 4), [[why.shared, *why.quoted] for why in found.reasons]]


def _from_row(number: int, confidence: float, reasons: Iterable[list[str]]) -> ScanMatch:
    return ScanMatch(
        number, confidence, tuple(Reason(ReasonCode(shared), tuple(quoted)) for shared, *quoted in reasons)
    )


log = logging.getLogger(__name__)

MOST_ASKED_AGAIN = 100
"""Some seconds' work."""

ReadReactions = Callable[[Sequence[int]], Mapping[int, tuple[int, int]]]
"""How many 👍 and 👎 issues have, by number, as GitHub says now; issues may be left out."""


class Scan:
    """One scan of a repository; it can be stopped at any time and repeated."""

    def __init__(self, store: Store, asker: BacklogMatcher, repo_id: int, *, closed: bool = False) -> None:
        self._store = store
        self._answers = ScanAnswers(store.engine)
        self._asker = asker
        self._repo_id = repo_id
        self._closed = closed

    def begin(self, *, fresh: bool = False) -> None:
        """Delete the answers that another issue's change has outdated; with `fresh`, all answers."""
        if fresh:
            self._answers.forget(self._repo_id)
        else:
            self._answers.drop_outdated(self._repo_id)

    def missing(self, after: int = 0, limit: int | None = None) -> list[int]:
        """The issues above `after` that still have to be asked about."""
        version = self._asker.version(self._repo_id)
        return self._answers.missing(self._repo_id, version, closed=self._closed, after=after, limit=limit)

    def ask_again(self) -> None:
        """Ask once more about issues whose answers were outdated during the scan.

        Only once and at most MOST_ASKED_AGAIN issues, because a scan must end. Other outdated answers are used as they
        are.
        """
        changed = {*self._answers.outdated(self._repo_id), *self.missing(limit=MOST_ASKED_AGAIN)}
        self.ask(sorted(changed)[:MOST_ASKED_AGAIN])

    def count(self) -> int:
        return self._answers.count_entries(self._repo_id, closed=self._closed)

    def ask(self, numbers: Sequence[int]) -> None:
        self.keep(self._asker.ask(self._repo_id, numbers))

    def keep(self, answers: Sequence[ScanAnswer]) -> None:
        self._answers.put(self._repo_id, answers)

    def count_reactions(self, read: ReadReactions, threshold: float = THRESHOLD) -> None:
        """Update the 👍 and 👎 of the groups' issues, by which groups are ordered.

        GitHub does not count a reaction as a change, so the index has those of an issue's last change. If they cannot
        be read, those count.
        """
        groups = self.result(threshold).groups
        numbers = [
            entry.number for group in groups for entry in (group.original, *(one.entry for one in group.members))
        ]
        if numbers:
            try:
                given = read(numbers)
            except (GitHubError, Retryable) as failure:
                issues = counted(len(numbers), "issue")
                log.warning("the reactions to %s could not be counted anew: %s", issues, failure)
                return
            self._answers.put_reactions(self._repo_id, given)

    def result(self, threshold: float = THRESHOLD) -> ScanResult:
        backlog = self._answers.entries(self._repo_id, closed=self._closed)
        groups = grouped(
            backlog,
            self._answers.all(self._repo_id),
            threshold=threshold,
            decided=decisions_on_pairs(self._store, self._repo_id),
        )
        return ScanResult(tuple(groups), len(backlog), self._closed, threshold)
