"""Asks the finder about chosen arrivals, as it would have answered when they came."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from bot.evaluation.metrics import DEPTHS
from bot.finder import Finder, FinderSettings
from bot.ranking.model import Model
from bot.replay import Answered, PastIssue, ReplayGitHub, replay


@dataclass(frozen=True, slots=True)
class Asking:
    """Where to look, what to sort by, and the weights (None: those that this version comes with)."""

    sources: tuple[str, ...]
    relevance: str
    model: Model | None = None


def ask_about(issues: Sequence[PastIssue], positions: Collection[int], asking: Asking) -> Iterator[Answered | None]:
    """An answer for each of `positions`, None for each other arrival, in their order. Labels are out of its reach."""
    github = ReplayGitHub()
    settings = FinderSettings(hybrid="github-hybrid" in asking.sources)
    finder = Finder(github, settings=settings, model=asking.model)
    ask = partial(
        Finder.find,
        threshold=0.0,
        max_candidates=max(DEPTHS),
        relevance=asking.relevance,
        state="all",
        earlier_only=True,
    )
    yield from replay(issues, positions, finder, github, ask)
