"""The backlog scan: finds the earlier issues that each issue repeats, and stores the answers.

Several processes read the index and judge issues, and one process stores the answers. A stopped scan continues with the
stored answers. An answer is outdated once the model changes, or a text or vector of the issue or its matches.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.domain.entities import Issue, RepoRef
from bot.domain.errors import GitHubError, Retryable
from bot.domain.formats import batches, counted
from bot.domain.report import Reason, ReasonCode
from bot.platform.processes import running_in_processes
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

log = logging.getLogger(__name__)

#: Finds the matches of many issues, in batches.
MatchMany = Callable[[Sequence[int]], Iterable[list[ScanAnswer]]]

#: An answer keeps at most MOST candidates. Their confidence is at least LEAST, which is the lowest possible threshold.
MOST, LEAST = 20, 0.05

# The number of issues to read from the index at a time.
_AT_ONCE = 50
# An `Issue` needs a repository's name. Any name will do: the index uses only the id.
_ANYWHERE = RepoRef("scan", "scan")


class BacklogMatcher:
    """Finds matches for indexed issues, as the bot does for a new issue. Stateless and cheap to build."""

    def __init__(self, index: Index, model: Model) -> None:
        self._index = index
        self._matcher = Matcher(index, model, most=None)
        self._weights_digest = model.digest

    def close(self) -> None:
        self._index.close()

    def version(self, repo_id: int) -> str:
        """The version of the weights and vectors. Answers of another version are outdated."""
        with self._index.view(repo_id) as view:
            return self._version(view)

    def ask(self, repo_id: int, numbers: Sequence[int]) -> list[ScanAnswer]:
        """An answer for each issue that is in the index."""
        answers = []
        for batch in batches(numbers, _AT_ONCE):
            with self._index.view(repo_id) as view:
                # `_found` reads a later snapshot. A change in between is newer than `sequence`: it outdates the answer.
                sequence, version = view.state.sequence, self._version(view)
                rows, texts = view.issues(batch), view.texts(batch)
            for number in batch:
                if number in rows and number in texts:
                    target = rows[number]._replace(body=texts[number][1]).issue(_ANYWHERE, "")
                    answers.append(ScanAnswer(number, sequence, version, self._found(repo_id, target)))
        return answers

    def _version(self, view: View) -> str:
        return f"{self._weights_digest} {view.state.model}".rstrip()

    def _found(self, repo_id: int, target: Issue) -> tuple[ScanMatch, ...]:
        with self._matcher.session(repo_id, target, below=target.number, stored=True) as session:
            # An issue matches at most MOST of its earlier copies: the latest, which come first at equal confidence.
            # Every pair in a group must match, so more than MOST + 1 copies form several groups.
            matches = sorted(session.judge(), key=lambda match: (-match.confidence, -match.number))[:MOST]
            return tuple(
                ScanMatch(one.number, one.confidence, one.explain()) for one in matches if one.confidence >= LEAST
            )


#: The number of issues that a process gets at a time. If a scan stops, each process loses its present answers: less
#: than a second's work in a repository of 17,000 issues.
PART = 20
#: Up to this many issues are matched in this process, because starting other processes would take longer.
FEW = 50

# In a child process, the matcher that `_begin` made.
_process_matcher: BacklogMatcher | None = None


def match_in_processes(
    make: Callable[[], BacklogMatcher], repo_id: int, numbers: Sequence[int], processes: int
) -> Iterator[list[ScanAnswer]]:
    """Yield batches of answers, in no particular order. `make` is pickled, and called once in each process."""
    parts = list(batches(numbers, PART))
    if len(numbers) <= FEW:
        with closing(make()) as matcher:
            for part in parts:
                yield matcher.ask(repo_id, part)
        return
    calls = [(repo_id, part) for part in parts]
    with running_in_processes(min(processes, len(calls)), _ask, calls, _begin, make) as futures:
        for future in as_completed(futures):
            yield future.result()


def _begin(make: Callable[[], BacklogMatcher]) -> None:
    global _process_matcher
    _process_matcher = make()


def _ask(repo_id: int, numbers: Sequence[int]) -> list[ScanAnswer]:
    assert _process_matcher is not None
    return _process_matcher.ask(repo_id, numbers)


# The number of rows to fetch from the database at a time.
_ROWS = 2_000


ReadReactions = Callable[[Sequence[int]], Mapping[int, tuple[int, int]]]
"""Returns the current numbers of 👍 and 👎 on GitHub, by issue number. Issues may be missing from the result."""


class Scan(TableGateway):
    """One scan of a repository, which you can stop and repeat. `closed` adds closed issues to the backlog.

    The result includes answers that became outdated during the scan.
    """

    def __init__(self, store: Store, matcher: BacklogMatcher, repo_id: int, *, closed: bool = False) -> None:
        super().__init__(store.engine)
        self._store = store
        self._matcher = matcher
        self._repo_id = repo_id
        self._closed = closed

    def begin(self, *, fresh: bool = False) -> None:
        """Delete the answers with a match that changed after the answer; with `fresh`, delete all answers.

        `missing` finds the answers that are outdated for another reason.
        """
        in_repo = table.c.repo_id == self._repo_id
        # Find these answers before the transaction begins: a transaction keeps other writers of SQLite waiting.
        numbers = [] if fresh else self._with_changed_matches()
        with write(self._engine) as connection:
            chosen = sa.true() if fresh else among(connection, table.c.number, numbers)
            connection.execute(sa.delete(table).where(in_repo, chosen))

    def missing(self, after: int = 0, limit: int | None = None) -> list[int]:
        """The issues above `after` that still need an answer, ascending."""
        # An issue needs an answer if it has none, or one of another version, or one older than its text or vector.
        version = self._matcher.version(self._repo_id)
        answered = sa.and_(table.c.repo_id == issues.c.repo_id, table.c.number == issues.c.number)
        indexed = sa.and_(terms.c.repo_id == issues.c.repo_id, terms.c.number == issues.c.number)
        embedded = sa.and_(vectors.c.repo_id == issues.c.repo_id, vectors.c.number == issues.c.number)
        older = sa.or_(table.c.sequence < terms.c.changed, table.c.sequence < vectors.c.changed)
        query = (
            sa.select(issues.c.number)
            .join(terms, indexed)
            .outerjoin(vectors, embedded)
            .outerjoin(table, answered)
            .where(
                self._in_backlog(),
                issues.c.number > after,
                sa.or_(table.c.number.is_(None), table.c.model != version, older),
            )
            .order_by(issues.c.number)
            .limit(limit)
        )
        return [row.number for row in self._all(query)]

    def count(self) -> int:
        """The number of issues in the backlog."""
        return int(self._scalar(sa.select(sa.func.count()).where(self._in_backlog())) or 0)

    def ask(self, numbers: Sequence[int]) -> None:
        """Find and store these issues' answers."""
        self.put(self._matcher.ask(self._repo_id, numbers))

    def put(self, answers: Sequence[ScanAnswer]) -> None:
        """Store the answers of issues that still exist, replacing earlier answers."""
        rows = [
            (self._repo_id, answer.number, answer.sequence, answer.model, json.dumps(list(map(_to_row, answer.found))))
            for answer in answers
        ]
        with write(self._engine) as connection:
            # Without the lock, an issue could be deleted meanwhile, and its answer would stay for ever.
            lock_index(connection, self._repo_id)
            answered = among(connection, issues.c.number, [answer.number for answer in answers])
            existing = sa.select(issues.c.number).where(issues.c.repo_id == self._repo_id, answered)
            numbers = set(connection.execute(existing).scalars())
            kept = [row for row, answer in zip(rows, answers, strict=True) if answer.number in numbers]
            upsert(connection, table, kept)

    def answers(self) -> Iterator[ScanAnswer]:
        query = sa.select(table).where(table.c.repo_id == self._repo_id).order_by(table.c.number)
        with self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=_ROWS).execute(query):
                found = [_from_row(*stored) for stored in json.loads(row.candidates)]
                yield ScanAnswer(row.number, row.sequence, row.model, tuple(found))

    def count_reactions(self, read: ReadReactions, threshold: float = THRESHOLD) -> None:
        """Update the numbers of 👍 and 👎 of grouped issues. These numbers affect the order of the groups.

        On GitHub a reaction does not change an issue, so the index has the numbers from the issue's last change. If the
        current numbers cannot be read, the old numbers stay.
        """
        groups = self.result(threshold).groups
        numbers = [
            entry.number for group in groups for entry in (group.original, *(one.entry for one in group.members))
        ]
        try:
            given = read(numbers) if numbers else {}
        except (GitHubError, Retryable) as failure:
            counted_issues = counted(len(numbers), "issue")
            log.warning("the reactions to %s could not be counted anew: %s", counted_issues, failure)
            return
        if given:
            where = sa.and_(issues.c.repo_id == self._repo_id, issues.c.number == sa.bindparam("at"))
            change = sa.update(issues).where(where)
            change = change.values(thumbs_up=sa.bindparam("up"), thumbs_down=sa.bindparam("down"))
            rows = [{"at": number, "up": up, "down": down} for number, (up, down) in sorted(given.items())]
            with write(self._engine) as connection:
                connection.execute(change, rows)

    def result(self, threshold: float = THRESHOLD) -> ScanResult:
        backlog = self._backlog()
        decided = decisions_on_pairs(self._store, self._repo_id)
        groups = grouped(backlog, self.answers(), threshold=threshold, decided=decided)
        return ScanResult(tuple(groups), len(backlog), self._closed, threshold)

    def _backlog(self) -> list[BacklogIssue]:
        """The backlog's issues, oldest first (D8). The date counts: a transfer gives an issue a new number."""
        columns = ("number", "title", "state", "created_at", "thumbs_up", "thumbs_down", "comments")
        query = sa.select(*(issues.c[name] for name in columns)).where(self._in_backlog())
        return [
            BacklogIssue(number, title, state, datetime.fromtimestamp(created, UTC), up, down, comments)
            for number, title, state, created, up, down, comments in self._all(
                query.order_by(issues.c.created_at, issues.c.number)
            )
        ]

    def _with_changed_matches(self) -> list[int]:
        """The issues whose answer is older than the text or the vectors of one of their matches."""
        changed: dict[int, int] = {}
        for part in (terms, vectors):
            query = sa.select(part.c.number, part.c.changed).where(part.c.repo_id == self._repo_id)
            for number, sequence in self._all(query):
                changed[number] = max(sequence, changed.get(number, 0))
        return [
            answer.number
            for answer in self.answers()
            if any(changed.get(found.number, 0) > answer.sequence for found in answer.found)
        ]

    def _in_backlog(self) -> sa.ColumnElement[bool]:
        """A repository's open issues; with `closed`, also closed issues except those closed as duplicates."""
        is_open = issues.c.state == "open"
        as_duplicate = issues.c.duplicate_of.is_not(None) | (sa.func.coalesce(issues.c.state_reason, "") == "duplicate")
        wanted_state = sa.or_(is_open, sa.not_(as_duplicate)) if self._closed else is_open
        return sa.and_(issues.c.repo_id == self._repo_id, wanted_state)


def _to_row(found: ScanMatch) -> list[Any]:
    return [found.number, round(found.confidence, 4), [[why.code, *why.quoted] for why in found.reasons]]


def _from_row(number: int, confidence: float, reasons: Iterable[list[str]]) -> ScanMatch:
    return ScanMatch(number, confidence, tuple(Reason(ReasonCode(code), tuple(quoted)) for code, *quoted in reasons))
