"""The replay itself: every issue arrives, some are asked about, none is found before it came."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.errors import DoppelError
from bot.finder import Finder, FindOptions
from bot.model import Issue
from bot.replay.archive import PastIssue
from bot.replay.github import REPO, ReplayGitHub
from bot.replay.mirror import Mirror
from bot.replay.naming import Ids
from bot.report import Report


class FutureLeak(DoppelError):
    """An answer held an issue that had not arrived: the replay proves nothing, and its figures would be too good."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One arrival and what was found for it: file ids with confidence, best first."""

    id: int | str
    candidates: tuple[tuple[int | str, float], ...]


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
            yield Answered(past.id, tuple(_checked(report, issue, issues)))
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
