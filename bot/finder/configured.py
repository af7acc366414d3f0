"""How the settings of a repository want it to be searched. Bot, command line and tools for agents search alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Protocol

from bot.config.model import RepoConfig
from bot.finder.asking import FinderSettings
from bot.finder.options import FindOptions
from bot.model import Issue, RepoRef
from bot.report import Candidate
from bot.sources.github import Discussions, DiscussionSearcher
from bot.sources.named import RepositoryReader, Siblings
from bot.sources.protocol import Source
from bot.text.naming import named_by


class FurtherReads(DiscussionSearcher, RepositoryReader, Protocol):
    """What the further sources ask of GitHub; `RepoClient` and its view for a thread have it."""


def finder_settings(
    config: RepoConfig, *, headings: tuple[str, ...] = (), workflow_field: str | None = None
) -> FinderSettings:
    """The finder's settings: the repository's own, what its issue forms supply, and the host's project field (F7)."""
    return FinderSettings(
        words_max=config.search.words_max,
        budget=config.search.budget,
        hybrid=config.search.hybrid,
        template_headings=headings,
        workflow_field=workflow_field,
        sources=config.sources,
        known_issues=config.known_issues,
    )


def further_sources(config: RepoConfig, github: FurtherReads, allowed: Iterable[str]) -> list[Source]:
    """The sources that not every repository has; `allowed` are siblings of other owners that the host allows (H6)."""
    further: list[Source] = [Discussions(github)]
    if config.siblings:
        further.append(Siblings(github, map(RepoRef.parse, config.siblings), allowed))
    return further


def bot_options(
    config: RepoConfig,
    target: Issue,
    bar: float,
    *,
    rejected: Collection[int],
    rejected_elsewhere: Collection[str],
    duplicates: Mapping[int, int],
) -> FindOptions:
    """How the bot asks about an issue of its own accord, so that who tells what it would say asks as it does.

    `bar` is the probability from which on it speaks there. The other three are what people decided, as `FindOptions`
    has it. What an issue was made a sub-issue of it does not repeat, however alike the two are.
    """
    if (parent := target.parent) and parent.repo.key == target.repo.key:
        rejected = {*rejected, parent.number}
    elif parent:
        rejected_elsewhere = {*rejected_elsewhere, parent.key}
    return FindOptions(
        threshold=0.0,
        min_confidence=bar,
        max_candidates=config.max_candidates,
        state="all" if config.include_closed else "open",
        rejected=rejected,
        rejected_elsewhere=rejected_elsewhere,
        earlier_only=True,
        named=named_by(target),
        duplicates=duplicates,
    )


def named_unasked(config: RepoConfig, bar: float, found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Which of the best candidates, listed for who asked, the bot would have named of its own accord (P6)."""
    states = ("open", "closed") if config.include_closed else ("open",)
    own = (one for one in found if (one.confidence or 0.0) >= bar and one.state in states and not one.named)
    return tuple(islice(own, config.max_candidates))
