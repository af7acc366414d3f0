"""The replay itself: every issue arrives, some are asked about, none is found before it came."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.errors import DoppelError
from bot.finder import Finder, FindOptions
from bot.index import Index, IndexedIssue
from bot.model import BODY_MAX, Issue, IssueRef, RepoRef
from bot.opinion import Opinion, Pairs
from bot.replay.archive import PastIssue
from bot.replay.github import REPO, ReplayGitHub
from bot.report import Report
from bot.text.github_urls import named_issues, without_code

#: From so many issues on batches end where vectors are centred anew, so that a history that is read at once gives the
#: same index as one that comes issue by issue.
_FIRST_BATCH = 512
_WORD = re.compile(r"\w[\w.-]{0,98}\w")


class FutureLeak(DoppelError):
    """An answer held an issue that had not arrived: the replay proves nothing, and its figures would be too good."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One arrival and what was found for it: file ids with confidence, best first.

    `pairs` are what a judge would be asked about, with the numbers that the replay gave; `ids` are these in the file.
    """

    id: int | str
    candidates: tuple[tuple[int | str, float], ...]
    pairs: Pairs | None = None
    ids: tuple[int | str, ...] = ()


class Asked:
    """In place of a judge: keeps what that would be asked about the last arrival, and says nothing."""

    def __init__(self, floor: float) -> None:
        self.floor = floor
        self._pairs: Pairs | None = None

    def opinion(self, pairs: Pairs, author: str) -> Opinion:
        self._pairs = pairs
        return Opinion()

    def probability(self, before: float, opinion: Opinion, number: int) -> float:
        return before

    def take(self) -> Pairs | None:
        """What was asked since the last time, if anything."""
        pairs, self._pairs = self._pairs, None
        return pairs


class Mirror:
    """Follows the arrivals of a `ReplayGitHub` into one repository of an index."""

    def __init__(self, index: Index, repo_id: int) -> None:
        self._index = index
        self._repo_id = repo_id

    def load(self, issues: Sequence[Issue]) -> None:
        """Put in all issues that there are at the beginning, as they are then."""
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
        """Take over what was closed since the last time."""
        self.put(github.take_closed())


class Ids:
    """The numbers that the replay gave the issues of a file, by the file's ids.

    A file does not say which repository it is from. So `#12` and the address of any issue 12 name the issue whose id is
    12, and the word `TIMOB-1` the one with that id: the bot does not tell anybody what they have written.
    """

    def __init__(self, repo: RepoRef) -> None:
        self._repo = repo
        self._numbers: dict[str, int] = {}
        self._words = False

    def add(self, id: int | str, number: int) -> None:
        """An issue has arrived."""
        self._numbers[str(id)] = number
        self._words |= not str(id).isdecimal()

    def named(self, past: PastIssue) -> frozenset[str]:
        """Those that arrived before it and that its text names, as `FindOptions` takes them."""
        text = f"{past.title}\n{past.body}"
        ids = {key.rpartition("#")[2] for key in named_issues(text, self._repo)}
        if self._words:
            # "Exit code 137" is about no issue, whatever ids the others have.
            ids |= {word for word in _WORD.findall(without_code(text[:BODY_MAX])) if not word.isdecimal()}
        return frozenset(IssueRef(self._repo, self._numbers[id]).key for id in ids if id in self._numbers)


def choose(issues: Sequence[PastIssue], warm: float, sample: int | None, seed: int) -> list[int]:
    """Positions of the arrivals to ask about: all after the warm-up share, or a seeded sample of them."""
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
    """Let `issues` arrive one after the other; yields an answer for the positions in `asked`, None for the others.

    The finder is asked with `options`, to which the issues that the text names are added. The `mirror` keeps the index
    of a finder that has one. What comes before `start` is there from the beginning, and nothing is yielded for it. The
    finder learns of an issue only after it has answered for it. Raises FutureLeak where a candidate had not arrived
    before the issue it was found for, or is closed although it was not yet.
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
    """The candidates by their ids in the file, none of which may show what was not so when `issue` arrived."""
    for candidate in report.candidates:
        if not 1 <= candidate.number < issue.number:
            raise FutureLeak(f"#{candidate.number} was found for #{issue.number}, which arrived before it")
        past = issues[candidate.number - 1]
        if candidate.state == "closed" and (past.closed_at is None or past.closed_at > issue.created_at):
            raise FutureLeak(f"#{candidate.number} was closed only after #{issue.number} had arrived")
        yield past.id, candidate.relevance
