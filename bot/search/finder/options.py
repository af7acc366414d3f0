"""The options of a search (F1), by default and from a repository's settings, for bot, command line and agents."""

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
    """The options of one search. Raises InvalidArgument naming the option that is wrong.

    `threshold` is the least similarity of titles (F5), `min_confidence` the least probability, both in [0, 1];
    `max_candidates` (1 or more) how many are shown; `relevance` the order (H5); `state` the state in which issues
    count. `words` replace the search words. `rejected` numbers are never shown, nor `rejected_elsewhere`, issues of
    other repositories (`owner/repo#number` in lower case). `earlier_only` leaves out later issues. `named` issues, in
    the same form, are those that the target's text names: left out, or with `show_named` shown and marked. `duplicates`
    maps issues to originals, as people here marked them. With `sources` only results of these are shown (H4). Without
    `explained` there are no reasons, which cost a look into each text. With `related` a candidate that the judge calls
    related is shown even if `min_confidence` is set.

    Options that a command overrides are in `bot.conversation.commands.Options`.
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
        """Whether an issue may be mentioned at all: not the target, not rejected, early enough."""
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
        """Whether a candidate of these sources is likely enough, and asked for.

        An `unread` one, which the judge did not reach, is shown only without a least confidence.
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
    """The options of the bot's own search about a new issue; it comments from the probability `bar` on.

    `threshold` is the probability from which on it speaks there. The other three are people's decisions, as in
    `FindOptions`. The parent of a sub-issue is never its duplicate.
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
    """Those of the listed candidates that the bot would have named of its own accord (P6)."""
    states = ("open", "closed") if config.include_closed else ("open",)
    own = (
        one
        for one in found
        if one.state in states
        and not one.named
        and (config.judge.related if one.verdict is JudgeVerdict.RELATED else (one.confidence or 0.0) >= threshold)
    )
    return tuple(islice(own, config.max_candidates))
