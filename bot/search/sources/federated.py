"""Searches GitHub and the further sources: chooses whom to ask (H4), plans the queries, asks side by side, merges."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.conversation.config.schema import SourceConfig
from bot.conversation.own_issues import is_own_issue
from bot.domain.entities import Issue, RepoRef, StateFilter
from bot.domain.errors import GitHubError, Retryable
from bot.domain.report import INDEX
from bot.github.transport import time_limit
from bot.search.ranking.plan import DEFAULT_BUDGET, Plan, natural_query, plan_own_words, plan_queries
from bot.search.ranking.relevance import WordRarity, WordStats
from bot.search.sources import (
    GitHubReads,
    Hit,
    SearchRequest,
    Source,
    SourceResult,
    ask_all,
    limit_results,
    merge_results,
)
from bot.search.sources.configured import KNOWN_ISSUES, SIBLINGS, KnownIssues, Siblings
from bot.search.sources.github import (
    DISCUSSIONS,
    HYBRID,
    LEXICAL,
    PULL_REQUESTS,
    SIMILAR,
    Discussions,
    GitHubHybrid,
    GitHubLexical,
    GitHubSimilar,
    PullRequests,
)
from bot.text.terms import read

log = logging.getLogger(__name__)

FULL_TEXT, VECTORS = INDEX

#: Sources that need lexical searches in addition to the plan's.
FURTHER_SEARCHES = (PULL_REQUESTS, SIBLINGS)

SOURCE_NAMES = (*INDEX, LEXICAL, HYBRID, SIMILAR, KNOWN_ISSUES, PULL_REQUESTS, DISCUSSIONS, SIBLINGS)


def enabled_sources(
    named: Mapping[str, SourceConfig], *, indexed: bool, hybrid: bool = True
) -> dict[str, SourceConfig]:
    """The sources to ask, by name: as in the settings `named`, the others by default.

    `indexed` tells whether the repository's own index is complete; else it is not asked. If it is asked, GitHub's
    lexical search is off by default: it reads the same texts and understands less, and all repositories of an
    installation share its 30 requests a minute. `hybrid` is the default for GitHub's semantic search.
    """
    local = indexed and any(name not in named or named[name].enabled for name in INDEX)
    off = {PULL_REQUESTS, DISCUSSIONS, *([LEXICAL] if local else ()), *(() if hybrid else [HYBRID])}
    found = {name: named.get(name, SourceConfig(enabled=name not in off)) for name in SOURCE_NAMES}
    return {name: source for name, source in found.items() if source.enabled and (indexed or name not in INDEX)}


def only_sources(*names: str) -> dict[str, SourceConfig]:
    """Settings that switch on these sources alone."""
    return {name: SourceConfig(enabled=name in names) for name in SOURCE_NAMES}


#: Issues that are read on first contact with a repository. This costs no search.
RECENT_ISSUES = 200


class RecentIssuesCache:
    """Caches the latest issues of repositories, which statistics need no newer; reads again while there are too few."""

    def __init__(self, github: GitHubReads) -> None:
        self._github = github
        self._kept: dict[str, list[Issue]] = {}

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        """The latest issues, at most `limit`. Raises what the reader raises."""
        kept = self._kept.get(repo.key, ())
        if len(kept) < limit:
            kept = self._kept[repo.key] = self._github.recent_issues(repo, limit)
        return list(kept[:limit])


def count_words(stats: WordStats, issues: Iterable[Issue]) -> None:
    """Add issues to the statistics."""
    stats.add({issue.number: read(issue.title, issue.body).counted() for issue in issues})


def ensure_word_stats(recent: RecentIssuesCache, stats: WordStats, repo: RepoRef) -> bool:
    """Count the words of a repository on first contact; return whether there are statistics now.

    If that fails, all words count alike for now, and the find goes on.
    """
    if stats.total():
        return True
    try:
        issues = recent.recent_issues(repo, RECENT_ISSUES)
    except (GitHubError, Retryable) as failure:
        log.warning("the recent issues of %s could not be read, all words count alike: %s", repo, failure)
        return False
    count_words(stats, issues)
    return True


#: Hits whose texts are compared, best ranks first; what ranks lower is not worth the time.
MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class FinderSettings:
    """How a repository wants to be searched.

    `words_max` is F3's number of title words, `budget` F8's number of searches by words an issue, `hybrid` whether the
    one request by meaning is made where `sources` does not say, `template_headings` what the repository's issue forms
    supply, and `workflow_field` the project field that F7 shows (None: its default names). `sources` are settings by
    name; those not named are asked as `bot.search.sources.federated` says. `known_issues` are always considered.
    """

    words_max: int = 5
    budget: int = DEFAULT_BUDGET
    hybrid: bool = True
    template_headings: tuple[str, ...] = ()
    workflow_field: str | None = None
    sources: Mapping[str, SourceConfig] = field(default_factory=dict)
    known_issues: tuple[int, ...] = ()

    def use(self, *, indexed: bool) -> dict[str, SourceConfig]:
        """The sources to ask, by name."""
        return enabled_sources(self.sources, indexed=indexed, hybrid=self.hybrid)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the sources brought up for one issue, best first and each once, before anything is judged."""

    plan: Plan
    answers: tuple[SourceResult, ...]
    hits: tuple[Hit, ...]

    @property
    def likely(self) -> frozenset[str]:
        """What GitHub calls likely duplicates (F8a), by key."""
        return frozenset(hit.issue.key for hit in self.hits if hit.likeness and hit.likeness.likely_duplicate)

    @property
    def remembered(self) -> frozenset[str]:
        """The sources that were not asked now: all that they say was answered minutes ago (T5)."""
        return frozenset(one.source for one in self.answers if one.runs and all(run.cached for run in one.runs))

    @property
    def partly_remembered(self) -> frozenset[str]:
        """These, and the sources that were asked only a part of their questions now."""
        return frozenset(one.source for one in self.answers if any(run.cached for run in one.runs))


@dataclass(frozen=True, slots=True)
class FederatedSearch:
    """Where a repository's issues are looked for over the network: GitHub's searches and the `further` sources.

    `stats` are the words of its issues, by which searches are planned, at first those of the `recent` ones. `indexed`
    says that an index is asked as well, and `within` how many seconds these sources have then, if not all that it takes
    (F8b).
    """

    github: GitHubReads
    further: Sequence[Source]
    stats: WordStats
    recent: RecentIssuesCache
    settings: FinderSettings
    indexed: bool
    within: float | None = None

    def gather(self, target: Issue, state: StateFilter, words: str) -> Gathered:
        """Ask all of them; `words` replace those of the target. Without any to ask nothing is planned or read."""
        within = self.within if self.indexed else None
        with time_limit(within):
            return self._gather(target, state, words, within)

    def _gather(self, target: Issue, state: StateFilter, words: str, within: float | None) -> Gathered:
        use = self.settings.use(indexed=self.indexed)
        github, known = self.github, self.settings.known_issues
        there: list[Source] = [
            GitHubSimilar(github),
            GitHubLexical(github),
            GitHubHybrid(github),
            PullRequests(github),
            *self.further,
        ]
        if known and not self.indexed:
            there.append(KnownIssues(github, known))
        by_name = {source.name: source for source in there}
        asked = [by_name[name] for name in use if name in by_name]
        if not asked:
            return Gathered(Plan(()), (), ())
        ensure_word_stats(self.recent, self.stats, target.repo)
        # Each makes one at least: a source that was turned on and is never asked would be the worse surprise.
        budget = max(1, self.settings.budget - sum(source.name in FURTHER_SEARCHES for source in asked))
        plan = self._plan(target, state, words, budget)
        question = SearchRequest(target, plan, natural_query(target.repo, words or target.title, state), state)
        # What GitHub ranks itself costs no search: without an index it has answered before any is made (F8a).
        first = [source for source in asked if source.name == GitHubSimilar.name and not self.indexed]
        rest = [source for source in asked if source not in first]
        answers = tuple(
            limit_results(_of_its_kind(answer, target), use[answer.source].limit)
            for answer in (*ask_all(first, question), *ask_all(rest, question, within))
        )
        return Gathered(plan, answers, tuple(merge_results(answers, target.created_at, use)))

    def _plan(self, target: Issue, state: StateFilter, words: str, budget: int) -> Plan:
        if words:
            return plan_own_words(target.repo, words, budget=budget, state=state)
        return plan_queries(
            target.repo,
            target.title,
            target.body,
            WordRarity.of(self.stats, read(target.title, target.body).all),
            budget=budget,
            state=state,
            words_max=self.settings.words_max,
            template_headings=self.settings.template_headings,
        )


def _of_its_kind(answer: SourceResult, target: Issue) -> SourceResult:
    """The answer without the target, and without what its source is not asked for, whatever a server sends.

    Only siblings bring issues of other repositories, after a look at who may read those.
    """

    def proper(issue: Issue) -> bool:
        own = issue.repo.key == target.repo.key
        if own is (answer.source == Siblings.name) or (own and issue.number == target.number):
            return False
        if is_own_issue(issue):
            # It resembles everything.
            return False
        return (issue.is_pull_request, issue.is_discussion) == (
            answer.source == PullRequests.name,
            answer.source == Discussions.name,
        )

    return replace(answer, lists=tuple(tuple(issue for issue in found if proper(issue)) for found in answer.lists))
