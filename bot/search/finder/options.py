"""The options of a search (F1): their defaults, and how a repository's settings change them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import get_args

from bot.conversation.config.schema import RepoConfig
from bot.domain.entities import Issue, RepoRef, StateFilter
from bot.domain.errors import InvalidArgument
from bot.domain.judge_protocol import JudgeVerdict
from bot.domain.report import Candidate
from bot.github.repository import RepoClient
from bot.search.ranking.relevance import DEFAULT_RELEVANCE, Relevance
from bot.search.sources import Source
from bot.search.sources.configured import Siblings
from bot.search.sources.federated import SOURCE_NAMES, FinderSettings
from bot.search.sources.github import Discussions
from bot.text.github_urls import named_by


@dataclass(frozen=True, slots=True)
class FindOptions:
    """The options of one search. A wrong option raises InvalidArgument with its name.

    - `threshold`: the least similarity of titles (F5), in [0, 1].
    - `max_candidates`: how many candidates are shown, 1 or more.
    - `relevance`: the order of the results (H5), as the value of a `Relevance`; `by` is the `Relevance`.
    - `min_confidence`: the least probability of a shown candidate, in [0, 1] (None: any).
    - `state`: only issues in this state are shown.
    - `words`: search words that replace the issue's own.
    - `rejected`: numbers that are never shown.
    - `rejected_elsewhere`: issues of other repositories that are never shown (`owner/repo#number` in lower case).
    - `earlier_only`: leave out issues later than the target.
    - `named`: issues that the target's text names (`owner/repo#number` in lower case); hidden unless `show_named`.
    - `show_named`: show and mark the `named` issues.
    - `duplicates`: maps issues to originals, as people in the repository marked them.
    - `sources`: if not empty, only results of these sources are shown (H4).
    - `explained`: find the reasons for each candidate, and read each candidate's text for this.
    - `related`: if `min_confidence` is set, whether to show what the judge calls related, at any confidence.
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
            # No issue has an unknown state: the search would find nothing, and wrongly answer "no duplicates" (F9).
            raise InvalidArgument("state", f"{self.state!r} is not one of: {', '.join(get_args(StateFilter))}")
        # A text is no list of names, even if it is a name.
        wrong = [self.sources] if isinstance(self.sources, str) else [n for n in self.sources if n not in SOURCE_NAMES]
        if wrong:
            raise InvalidArgument("sources", f"{wrong[0]!r} is not a list of: {', '.join(SOURCE_NAMES)}")
        if self.min_confidence is not None and not _is_share(self.min_confidence):
            raise InvalidArgument("min_confidence", f"{self.min_confidence!r} is not between 0 and 1")

    @property
    def by(self) -> Relevance:
        return Relevance(self.relevance)

    def may_mention(self, issue: Issue, target: Issue) -> bool:
        """Whether an issue may be mentioned: it is not the target, not rejected, and early enough."""
        # Compare dates, too: a transferred target has a new number but an old date, so a lower number can be newer.
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
        """Whether a candidate is likely enough, and one of the wanted sources found it.

        If the judge read other candidates but not this one (`unread`), `min_confidence` hides this candidate.
        """
        judged_related = verdict is JudgeVerdict.RELATED and self.min_confidence is not None
        is_likely = self.min_confidence is None or (confidence >= self.min_confidence and not unread)
        passes = self.related if judged_related else is_likely
        return passes and (not self.sources or not set(self.sources).isdisjoint(sources))

    def may_lead(self, issue: Issue) -> bool:
        """Whether an issue has the wanted state. Only such an issue can be shown, or lead a group of duplicates."""
        return self.state in ("all", issue.state)


def _is_share(value: object) -> bool:
    """Whether a value is a number in [0, 1]. NaN fails the comparison. A bool is no number here, unlike in Python."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def finder_settings(
    config: RepoConfig, *, headings: tuple[str, ...] = (), workflow_field: str | None = None
) -> FinderSettings:
    """Finder settings from a repository's settings, its forms' headings, and a field of a GitHub Project (F7)."""
    return FinderSettings(
        words_max=config.search.words_max,
        budget=config.search.budget,
        hybrid=config.search.hybrid,
        template_headings=headings,
        workflow_field=workflow_field,
        sources=config.sources,
        known_issues=config.known_issues,
    )


def further_sources(config: RepoConfig, github: RepoClient, allowed: Iterable[str]) -> list[Source]:
    """Discussions and sibling repositories. Siblings of other owners must be in the host's list `allowed` (H6)."""
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
    """The options of the bot's own search about a new issue.

    `threshold` is the least probability at which the bot comments. `rejected`, `rejected_elsewhere` and `duplicates`
    are people's decisions, as in `FindOptions`. A sub-issue is never a duplicate of its parent.
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
    """`found` are candidates for a person who asked. Returns those that the bot would also have shown unasked (P6)."""
    states = ("open", "closed") if config.include_closed else ("open",)

    def qualifies(one: Candidate) -> bool:
        is_likely = (one.confidence or 0.0) >= threshold
        return config.judge.related if one.verdict is JudgeVerdict.RELATED else is_likely

    # `one.named`: the target's text names the issue.
    shown = (one for one in found if one.state in states and not one.named and qualifies(one))
    return tuple(islice(shown, config.max_candidates))
