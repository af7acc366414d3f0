"""How one find is wanted (F1), and how a repository's settings want it; bot, command line and agents search alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol, get_args

from bot.conversation.config.schema import RepoConfig
from bot.domain.entities import Issue, RepoRef, StateFilter
from bot.domain.errors import InvalidArgument
from bot.domain.judge_protocol import JudgeVerdict
from bot.domain.report import Candidate
from bot.search.ranking.relevance import DEFAULT_RELEVANCE, Relevance
from bot.search.sources import Source
from bot.search.sources.configured import RepositoryReader, Siblings
from bot.search.sources.federated import SOURCE_NAMES, FinderSettings
from bot.search.sources.github import Discussions, DiscussionSearcher
from bot.text.github_urls import named_by


@dataclass(frozen=True, slots=True)
class FindOptions:
    """How one find is wanted. Raises InvalidArgument naming the option that is wrong.

    `threshold` is the least similarity of titles (F5), `min_confidence` the least learned probability, both in [0, 1];
    `max_candidates` how many are shown at most, from 1 on; `relevance` what they are sorted by (H5), `state` the one
    in which issues count. `words` replace the words that are searched for. `rejected` are numbers that are never shown,
    `rejected_elsewhere` issues of other repositories (as `owner/repo#number` in lower case); `earlier_only` leaves out
    what came later. `named` are the issues (written so, see `named_issues`) that the target's text names: they are left
    out, or with `show_named` shown and marked. `duplicates` says which issues people here marked as duplicates
    of which. With `sources` only what one of these found is shown (H4), whatever the others put before it. Without
    `explained` candidates come without reasons, which cost a look into the text of each: to measure by. What a judge
    calls related is shown by itself only with `related`, or where nobody set a least confidence.

    What a command asks to differ from the settings is `bot.conversation.commands.Options`.
    """

    threshold: float = 0.3
    max_candidates: int = 10
    relevance: str = DEFAULT_RELEVANCE
    min_confidence: float | None = None
    state: StateFilter = "open"
    words: str = ""
    rejected: Collection[int] = ()
    rejected_elsewhere: Collection[str] = ()
    earlier_only: bool = False
    named: Collection[str] = ()
    show_named: bool = False
    duplicates: Mapping[int, int] = field(default_factory=dict)
    sources: Collection[str] = ()
    explained: bool = True
    related: bool = False

    def __post_init__(self) -> None:
        if not _is_share(self.threshold):
            raise InvalidArgument("threshold", f"{self.threshold!r} is not between 0 and 1")
        most = self.max_candidates
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InvalidArgument("max_candidates", f"{most!r} is not 1 or more")
        if self.relevance not in tuple(Relevance):
            raise InvalidArgument("relevance", f"{self.relevance!r} is not one of: {', '.join(Relevance)}")
        if self.state not in get_args(StateFilter):
            # No issue is in such a state, and "none" would be a false answer (F9).
            raise InvalidArgument("state", f"{self.state!r} is not one of: {', '.join(get_args(StateFilter))}")
        if isinstance(self.sources, str) or (unknown := [one for one in self.sources if one not in SOURCE_NAMES]):
            wrong = self.sources if isinstance(self.sources, str) else unknown[0]
            raise InvalidArgument("sources", f"{wrong!r} is not a list of: {', '.join(SOURCE_NAMES)}")
        if self.min_confidence is not None and not _is_share(self.min_confidence):
            raise InvalidArgument("min_confidence", f"{self.min_confidence!r} is not between 0 and 1")

    @property
    def by(self) -> Relevance:
        """What to sort by."""
        return Relevance(self.relevance)

    def may_tell(self, issue: Issue, target: Issue) -> bool:
        """Whether an issue may be mentioned at all: another one, that nobody rejected, and early enough.

        Issues, pull requests and discussions of a repository share one row of numbers.
        """
        # One that was transferred here has a later number than those that came after it.
        if self.earlier_only and issue.created_at > target.created_at:
            return False
        if issue.repo.key != target.repo.key:
            return issue.key not in self.rejected_elsewhere
        return (
            issue.number != target.number
            and issue.number not in self.rejected
            and not (self.earlier_only and issue.number > target.number)
        )

    def may_show(
        self, confidence: float, sources: Collection[str], verdict: JudgeVerdict | None = None, *, unread: bool = False
    ) -> bool:
        """Whether what these sources found is likely enough, and is asked for.

        What is `unread`, since a judge has read enough that was likelier, is shown to who asks for all there is.
        """
        likely = self.min_confidence is None or (confidence >= self.min_confidence and not unread)
        if verdict is JudgeVerdict.RELATED and self.min_confidence is not None:
            likely = self.related
        return likely and (not self.sources or not set(self.sources).isdisjoint(sources))

    def may_lead(self, issue: Issue) -> bool:
        """Whether it is in a state that is asked for."""
        return self.state in ("all", issue.state)


def _is_share(value: object) -> bool:
    """Whether it is a number in [0, 1]. NaN fails the comparison; a bool is a number to Python alone."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


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
    threshold: float,
    *,
    rejected: Collection[int],
    rejected_elsewhere: Collection[str],
    duplicates: Mapping[int, int],
) -> FindOptions:
    """How the bot asks about an issue of its own accord, so that who tells what it would say asks as it does.

    `threshold` is the probability from which on it speaks there. The other three are what people decided, as
    `FindOptions` has it. What an issue was made a sub-issue of it does not repeat, however alike the two are.
    """
    if (parent := target.parent) and parent.repo.key == target.repo.key:
        rejected = {*rejected, parent.number}
    elif parent:
        rejected_elsewhere = {*rejected_elsewhere, parent.key}
    return FindOptions(
        threshold=0.0,
        min_confidence=threshold,
        max_candidates=config.max_candidates,
        state="all" if config.include_closed else "open",
        rejected=rejected,
        rejected_elsewhere=rejected_elsewhere,
        earlier_only=True,
        named=named_by(target),
        duplicates=duplicates,
        related=config.judge.related,
    )


def named_unasked(config: RepoConfig, threshold: float, found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Which of the best candidates, listed for who asked, the bot would have named of its own accord (P6)."""
    states = ("open", "closed") if config.include_closed else ("open",)
    own = (
        one
        for one in found
        if one.state in states
        and not one.named
        and (config.judge.related if one.verdict is JudgeVerdict.RELATED else (one.confidence or 0.0) >= threshold)
    )
    return tuple(islice(own, config.max_candidates))
