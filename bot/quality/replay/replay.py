"""Replays past issues: each issue arrives in turn, and the finder looks for duplicates among earlier issues only."""

from __future__ import annotations

import heapq
import random
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from bot.domain.entities import BODY_MAX, Actor, Issue, IssueRef, RepoRef
from bot.domain.errors import DoppelError, Invalid, NotFound
from bot.domain.judge_protocol import JudgeAnswer, JudgeQuestion
from bot.domain.report import Report
from bot.github.batched_reads import WorkflowStates
from bot.github.calls import PAGE
from bot.github.search import SearchPage, SimilarIssues
from bot.quality.replay.archive import PastIssue
from bot.search.finder import Finder, FindOptions
from bot.search.index import Index, IndexedIssue
from bot.search.ranking.relevance import DEFAULT_RELEVANCE
from bot.search.sources.federated import FULL_TEXT, VECTORS
from bot.search.sources.github import GitHubHybrid, GitHubLexical
from bot.text.github_urls import named_issues, without_code

if TYPE_CHECKING:
    from bot.simulator.search import SearchIndex


REPO, REPO_ID = RepoRef("replay", "replay"), 1
"""The one repository of a replay: its name, and its id in the index."""

# The fields that issues share with documents of the simulated search.
_SHARED_FIELDS = (
    "id",
    "number",
    "title",
    "body",
    "created_at",
    "updated_at",
    "state",
    "state_reason",
    "labels",
    "closed_at",
)


class ReplayGitHub:
    """Takes GitHub's place in a replay. Issues are numbered from 1 in order of arrival.

    `searchable=False` leaves out the search, which takes time and is not needed with an index.
    """

    def __init__(self, *, searchable: bool = True) -> None:
        self._searched = _search_index() if searchable else None
        self._issues: dict[int, Issue] = {}
        self._future_closings: list[tuple[datetime, int]] = []
        self._newly_closed: list[Issue] = []

    def arrive(self, past: PastIssue) -> Issue:
        """Carry out the closings up to the time when `past` was created, and open `past`."""
        while self._future_closings and self._future_closings[0][0] <= past.created_at:
            moment, number = heapq.heappop(self._future_closings)
            self._close(number, moment)
        number = len(self._issues) + 1
        issue = Issue(
            repo=REPO,
            id=number,
            node_id=f"I_{number}",
            number=number,
            title=past.title,
            body=past.body,
            state="open",
            state_reason=None,
            author=Actor(past.author),
            labels=past.labels,
            created_at=past.created_at,
            updated_at=past.created_at,
            closed_at=None,
            url=f"https://github.com/{REPO}/issues/{number}",
        )
        self._issues[number] = issue
        self._put(issue)
        if past.closed_at is not None:
            heapq.heappush(self._future_closings, (max(past.closed_at, past.created_at), number))
        return issue

    def take_closed(self) -> list[Issue]:
        """The issues that were closed since the last call."""
        closed, self._newly_closed = self._newly_closed, []
        return closed

    def issue(self, repo: RepoRef, number: int) -> Issue:
        if number not in self._issues:
            raise NotFound(f"read {repo}#{number}", 404, "it has not arrived yet")
        return self._issues[number]

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        newest = len(self._issues)
        return [self._issues[number] for number in range(newest, max(newest - limit, 0), -1)]

    def search(self, query: str, *, hybrid: bool = False) -> SearchPage:
        """The first page of a search. Raises Invalid if GitHub would refuse the query."""
        from bot.simulator.search import QueryError

        assert self._searched is not None, "it was made without a search"
        try:
            result = self._searched.search(query, per_page=PAGE, search_type="hybrid" if hybrid else None)
        except QueryError as problem:
            raise Invalid("search issues", 422, str(problem)) from None
        return SearchPage(
            total_count=result.total_count,
            incomplete=result.incomplete_results,
            items=tuple(self._issues[number] for number in result.ids),
            fallback_reasons=result.fallback_reasons,
        )

    def similar_issues(self, repo: RepoRef, number: int) -> SimilarIssues:
        return SimilarIssues(enabled=False)

    def workflow_states(self, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowStates:
        return WorkflowStates({}, "a replay has no projects")

    def _close(self, number: int, moment: datetime) -> None:
        closed = replace(
            self._issues[number], state="closed", state_reason="completed", closed_at=moment, updated_at=moment
        )
        self._issues[number] = closed
        self._newly_closed.append(closed)
        self._put(closed)

    def _put(self, issue: Issue) -> None:
        if self._searched is None:
            return
        from bot.simulator.search import Document

        shared = {name: getattr(issue, name) for name in _SHARED_FIELDS}
        self._searched.put(Document(repo=str(issue.repo), author=issue.author.login, **shared))


def _search_index() -> SearchIndex:
    # Imported late: the import takes a third of a replay's start, and a replay with an index does not need it.
    from bot.simulator.search import SearchIndex

    index = SearchIndex()
    index.put_repository(str(REPO))
    return index


#: The index computes the centre of its vectors at this many issues, and again at twice, four times … this many.
#: `IndexMirror.load` ends a batch at each of these numbers. So the index is the same as after adding issues one by one.
_FIRST_BATCH = 512
# A word that may be an id, such as `TIMOB-1`.
_WORD = re.compile(r"\w[\w.-]{0,98}\w")


#: The finder's sources in a replay with an index (INDEX), and in a replay with GitHub's search (SEARCH).
INDEX = (FULL_TEXT, VECTORS)
SEARCH = (GitHubLexical.name, GitHubHybrid.name)


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How a replay asks the finder about each arrival: the sources (from `INDEX` or from `SEARCH`), and the options.

    `top` limits the candidates. `weights` is the text of a weights file, or empty for the shipped weights. `budget` is
    the most searches by words per arrival. A replay never asks a judge. With a `floor`, it records
    the question that a judge would get: about candidates with at least the probability `floor`.
    """

    sources: tuple[str, ...] = INDEX
    top: int = 20
    threshold: float = 0.0
    relevance: str = DEFAULT_RELEVANCE
    weights: str = ""
    budget: int = 4
    floor: float | None = None

    @property
    def indexed(self) -> bool:
        return set(self.sources) <= set(INDEX)

    def options(self) -> FindOptions:
        return FindOptions(
            threshold=self.threshold,
            max_candidates=self.top,
            relevance=self.relevance,
            state="all",
            earlier_only=True,
            explained=False,
        )


class FutureLeak(DoppelError):
    """An answer contains information from after the arrival, so the replay's figures would be too good."""


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """The answer about one arrival. `candidates` has pairs of id and relevance (by default the confidence), best first.

    Ids are from the file. `judge_question` has the replay's numbers; `ids` has the ids of the question's candidates.
    """

    id: int | str
    candidates: tuple[tuple[int | str, float], ...]
    judge_question: JudgeQuestion | None = None
    ids: tuple[int | str, ...] = ()


class QuestionRecorder:
    """Takes the judge's place: records the question about the last arrival without giving an opinion."""

    def __init__(self, floor: float) -> None:
        self.floor = floor
        self._question: JudgeQuestion | None = None

    def opinion(self, question: JudgeQuestion, author: str) -> JudgeAnswer:
        self._question = question
        return JudgeAnswer()

    def probability(self, before: float, opinion: JudgeAnswer, number: int) -> float:
        return before

    def take(self) -> JudgeQuestion | None:
        """The question recorded since the last call, if any."""
        question, self._question = self._question, None
        return question


class IndexMirror:
    """Copies the issues of a `ReplayGitHub` into an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def load(self, issues: Sequence[Issue]) -> None:
        """Index the issues that exist before the replay starts."""
        start, end = 0, _FIRST_BATCH
        while start < len(issues):
            self.put(issues[start:end])
            start, end = end, 2 * end

    def put(self, issues: Iterable[Issue]) -> None:
        rows = [IndexedIssue.of(issue) for issue in issues]
        if rows:
            self._index.put(REPO_ID, rows)


class FileIds:
    """Maps ids in the file to the replay's numbers, to find the issues that a text names.

    The bot never suggests an issue that the new text names. A file does not say which repository it
    is from. So `#12` and any repository's issue 12 mean the id 12, and `TIMOB-1` means the id `TIMOB-1`.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add(self, id: int | str, number: int) -> None:
        self._numbers[str(id)] = number

    def named(self, past: PastIssue) -> frozenset[str]:
        """The earlier issues that the text of `past` names, as keys for `FindOptions`."""
        text = f"{past.title}\n{past.body}"
        ids = {key.rpartition("#")[2] for key in named_issues(text, REPO)}
        # "Exit code 137" names no issue, even if an issue has the id 137.
        ids |= {word for word in _WORD.findall(without_code(text[:BODY_MAX])) if not word.isdecimal()}
        return frozenset(IssueRef(REPO, self._numbers[id]).key for id in ids if id in self._numbers)


def choose_arrivals(issues: Sequence[PastIssue], warm: float, sample: int | None, seed: int) -> list[int]:
    """Positions to ask about. Skips the first issues (share `warm`, 0 to 1), then takes all or a seeded `sample`."""
    eligible = range(int(len(issues) * warm), len(issues))
    if sample is None or sample >= len(eligible):
        return list(eligible)
    return sorted(random.Random(seed).sample(eligible, sample))  # noqa: S311 - a sample to measure by, no secret


def replay(
    issues: Sequence[PastIssue],
    asked: Collection[int],
    finder: Finder,
    github: ReplayGitHub,
    options: FindOptions,
    mirror: IndexMirror | None = None,
    start: int = 0,
    judge: QuestionRecorder | None = None,
) -> Iterator[ReplayAnswer | None]:
    """Let `issues` arrive one after the other; yield an answer for each position in `asked`, and None for the others.

    The finder gets `options` and the issues that the arrival's text names. The `mirror`, if any, maintains the finder's
    index. Issues before `start` exist from the beginning, and nothing is yielded for them. The finder learns of each
    issue only after the issue's own search. `judge` is the recorder that the finder asks, if any. Raises FutureLeak if
    a candidate arrived later than the issue, or is shown as closed although it was still open.
    """
    asked = frozenset(asked)
    ids = FileIds()
    earlier = [github.arrive(past) for past in issues[:start]]
    for past, issue in zip(issues, earlier, strict=False):
        ids.add(past.id, issue.number)
    if mirror is not None:
        # Read each issue anew: some were closed after they arrived.
        mirror.load([github.issue(issue.repo, issue.number) for issue in earlier])
        # The index now has these closings. Drop them here, so that the loop does not index them again.
        github.take_closed()
    for position in range(start, len(issues)):
        past = issues[position]
        issue = github.arrive(past)
        if mirror is not None:
            mirror.put(github.take_closed())
        if position in asked:
            report = finder.find(issue, replace(options, named=ids.named(past)))
            question = judge.take() if judge else None
            numbers = [one.number for one in question.candidates] if question else []
            candidate_ids = tuple(issues[number - 1].id for number in numbers)
            yield ReplayAnswer(past.id, tuple(_checked(report, issue, issues)), question, candidate_ids)
        else:
            yield None
        finder.notice(issue)
        ids.add(past.id, issue.number)
        if mirror is not None:
            mirror.put([issue])


def _checked(report: Report, issue: Issue, issues: Sequence[PastIssue]) -> Iterator[tuple[int | str, float]]:
    """Each candidate's id (from the file) and relevance. Raises FutureLeak if one shows what came after `issue`."""
    for candidate in report.candidates:
        if not 1 <= candidate.number < issue.number:
            raise FutureLeak(f"#{candidate.number} was found for #{issue.number}, which arrived before it")
        past = issues[candidate.number - 1]
        if candidate.state == "closed" and (past.closed_at is None or past.closed_at > issue.created_at):
            raise FutureLeak(f"#{candidate.number} was closed only after #{issue.number} had arrived")
        yield past.id, candidate.relevance
