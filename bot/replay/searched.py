"""A replay over GitHub's search, simulated in this process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from bot.finder import Finder, FinderSettings
from bot.ranking.model import Model
from bot.replay.archive import PastIssue
from bot.replay.asking import Asking
from bot.replay.github import ReplayGitHub
from bot.replay.running import Answered, replay
from bot.sources import github_hybrid


def replay_search(
    issues: Sequence[PastIssue], asked: Collection[int], asking: Asking, advance: Callable[[], None] = lambda: None
) -> Iterator[Answered | None]:
    """Like `replay`, for all `issues`; `advance` is called whenever one has arrived."""
    github = ReplayGitHub()
    settings = FinderSettings(budget=asking.budget, hybrid=github_hybrid.NAME in asking.sources)
    model = Model.parse(asking.weights) if asking.weights else None
    finder = Finder(github, settings=settings, model=model)
    for answer in replay(issues, asked, finder, github, asking.options()):
        advance()
        yield answer
