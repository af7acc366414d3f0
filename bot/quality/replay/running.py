"""The replay: every issue arrives in turn, and for some the finder is asked. None is found before it came."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.domain.entities import BODY_MAX, Issue, IssueRef, RepoRef
from bot.domain.errors import DoppelError
from bot.domain.judge_protocol import JudgeAnswer, JudgeQuestion
from bot.domain.report import Report
from bot.quality.replay.archive import PastIssue
from bot.quality.replay.github import REPO, ReplayGitHub
from bot.search.finder import Finder, FindOptions
from bot.search.index import Index, IndexedIssue
from bot.search.ranking.relevance import DEFAULT_RELEVANCE
from bot.search.sources.federated import FULL_TEXT, VECTORS
from bot.search.sources.github import HYBRID
from bot.text.github_urls import named_issues, without_code

#: The first batch; each later one doubles the number of issues. So batches end where vectors are centred again, and a
#: history that is read at once gives the same index as one that comes issue by issue.
_FIRST_BATCH = 512
_WORD = re.compile(r"\w[\w.-]{0,98}\w")


#: The sources of an index, and those of a search.
INDEX = (FULL_TEXT, VECTORS)
SEARCH = ("github-search", HYBRID)


@dataclass(frozen=True, slots=True)
class Asking:
    """How a replay asks about each arrival: the sources, all of `INDEX` or all of `SEARCH`, and the finder's options.

    `weights` is the text of a file of weights, empty for the shipped ones; `budget` limits the searches by words. With
    a `floor` the replay writes down each arrival's question to a judge, about candidates that are at least so likely,
    and asks nobody.
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
        """Whether the sources are an index's."""
        return set(self.sources) <= set(INDEX)

    def options(self) -> FindOptions:
        """The finder's options."""
        return FindOptions(
            threshold=self.threshold,
            max_candidates=self.top,
            relevance=self.relevance,
            state="all",
            earlier_only=True,
            explained=False,
        )


class FutureLeak(DoppelError):
    """An answer held an issue that had not arrived yet, so the replay's figures would be too good."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One arrival, by its id in the file, and its candidates: ids with confidence, best first.

    `pairs` are what a judge would be asked about, by the replay's numbers; `ids` are the same issues in the file.
    """

    id: int | str
    candidates: tuple[tuple[int | str, float], ...]
    pairs: JudgeQuestion | None = None
    ids: tuple[int | str, ...] = ()


class Asked:
    """In place of a judge: keeps what that would be asked about the last arrival, and says nothing."""

    def __init__(self, floor: float) -> None:
        self.floor = floor
        self._pairs: JudgeQuestion | None = None

    def opinion(self, pairs: JudgeQuestion, author: str) -> JudgeAnswer:
        self._pairs = pairs
        return JudgeAnswer()

    def probability(self, before: float, opinion: JudgeAnswer, number: int) -> float:
        return before

    def take(self) -> JudgeQuestion | None:
        """What was asked since the last time, if anything."""
        pairs, self._pairs = self._pairs, None
        return pairs


class Mirror:
    """Copies what happens in a `ReplayGitHub` into one repository of an index."""

    def __init__(self, index: Index, repo_id: int) -> None:
        self._index = index
        self._repo_id = repo_id

    def load(self, issues: Sequence[Issue]) -> None:
        """Put in all issues from before the start."""
        start, end = 0, _FIRST_BATCH
        while start < len(issues):
            self.put(issues[start:end])
            start, end = end, 2 * end

    def put(self, issues: Iterable[Issue]) -> None:
        """Put in issues that arrived or were closed."""
        rows = [IndexedIssue.of(issue) for issue in issues]
        if rows:
            self._index.put(self._repo_id, rows)

    def follow(self, github: ReplayGitHub) -> None:
        """Put in what was closed since the last time."""
        self.put(github.take_closed())


class Ids:
    """The numbers that the replay gave a file's issues, by their ids in the file.

    With them the replay finds the issues that a text names, because the bot never suggests those. A file does not say
    which repository it is from: `#12`, or the address of any issue 12, names the issue with the id 12, and the word
    `TIMOB-1` the one with that id.
    """

    def __init__(self, repo: RepoRef) -> None:
        self._repo = repo
        self._numbers: dict[str, int] = {}
        self._words = False

    def add(self, id: int | str, number: int) -> None:
        """Add an issue that has arrived."""
        self._numbers[str(id)] = number
        self._words |= not str(id).isdecimal()

    def named(self, past: PastIssue) -> frozenset[str]:
        """The earlier issues that its text names, in the form that `FindOptions` takes."""
        text = f"{past.title}\n{past.body}"
        ids = {key.rpartition("#")[2] for key in named_issues(text, self._repo)}
        if self._words:
            # "Exit code 137" names no issue, even if others have such ids.
            ids |= {word for word in _WORD.findall(without_code(text[:BODY_MAX])) if not word.isdecimal()}
        return frozenset(IssueRef(self._repo, self._numbers[id]).key for id in ids if id in self._numbers)


def choose(issues: Sequence[PastIssue], warm: float, sample: int | None, seed: int) -> list[int]:
    """The positions of the arrivals to ask about: all after the warm-up share, or a seeded sample of them."""
    judged = range(int(len(issues) * warm), len(issues))
    if sample is None or sample >= len(judged):
        return list(judged)
    return sorted(random.Random(seed).sample(judged, sample))  # noqa: S311 - a sample to measure by, no secret


def replay(
    issues: Sequence[PastIssue],
    asked: Collection[int],
    finder: Finder,
    github: ReplayGitHub,
    options: FindOptions,
    mirror: Mirror | None = None,
    start: int = 0,
    judge: Asked | None = None,
) -> Iterator[Answered | None]:
    """Let `issues` arrive one after the other; yield an answer for the positions in `asked`, None for the others.

    The finder is asked with `options` and the issues that the text names. The `mirror` keeps its index, if it has one.
    Issues before `start` are there from the beginning, and nothing is yielded for them. The finder learns of an issue
    only after it has answered for it. Raises FutureLeak if a candidate had not arrived, or was not closed, by then.
    """
    asked = frozenset(asked)
    ids = Ids(REPO)
    there = [github.arrive(past) for past in issues[:start]]
    for past, issue in zip(issues, there, strict=False):
        ids.add(past.id, issue.number)
    if mirror is not None:
        mirror.load([github.issue(issue.repo, issue.number) for issue in there])
        github.take_closed()
    for position in range(start, len(issues)):
        past = issues[position]
        issue = github.arrive(past)
        if mirror is not None:
            mirror.follow(github)
        if position in asked:
            report = finder.find(issue, replace(options, named=ids.named(past)))
            pairs = judge.take() if judge else None
            numbers = [one.number for one in pairs.candidates] if pairs else []
            yield Answered(
                past.id, tuple(_checked(report, issue, issues)), pairs, tuple(issues[at - 1].id for at in numbers)
            )
        else:
            yield None
        finder.notice(issue)
        ids.add(past.id, issue.number)
        if mirror is not None:
            mirror.put([issue])


def _checked(report: Report, issue: Issue, issues: Sequence[PastIssue]) -> Iterator[tuple[int | str, float]]:
    """The candidates by their ids in the file. Raises FutureLeak if one shows what came after `issue`."""
    for candidate in report.candidates:
        if not 1 <= candidate.number < issue.number:
            raise FutureLeak(f"#{candidate.number} was found for #{issue.number}, which arrived before it")
        past = issues[candidate.number - 1]
        if candidate.state == "closed" and (past.closed_at is None or past.closed_at > issue.created_at):
            raise FutureLeak(f"#{candidate.number} was closed only after #{issue.number} had arrived")
        yield past.id, candidate.relevance
