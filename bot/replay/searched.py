"""A replay over GitHub's search, simulated in this process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from bot.finder import Finder, FinderSettings, Outside
from bot.matching import Matcher, Model
from bot.replay.archive import PastIssue
from bot.replay.asking import Asking
from bot.replay.github import ReplayGitHub
from bot.replay.running import Answered, replay
from bot.sources.github import HYBRID


def replay_search(
    issues: Sequence[PastIssue], asked: Collection[int], asking: Asking, advance: Callable[[], None] = lambda: None
) -> Iterator[Answered | None]:
    """Like `replay`, for all `issues`; `advance` is called whenever one has arrived."""
    github = ReplayGitHub()
    settings = FinderSettings(budget=asking.budget, hybrid=HYBRID in asking.sources)
    model = Model.parse(asking.weights) if asking.weights else None
    finder = Finder(github, settings=settings, outside=Outside(over=partial(Matcher, model=model)))
    for answer in replay(issues, asked, finder, github, asking.options()):
        advance()
        yield answer
