"""Searches over the network: chooses sources (H4), plans queries, asks in parallel, merges results."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.conversation.config.schema import SourceConfig
from bot.conversation.own_issues import is_own_issue
from bot.domain.entities import Issue, RepoRef, StateFilter
from bot.domain.errors import GitHubError, Retryable
from bot.domain.report import INDEX
from bot.search.ranking.plan import DEFAULT_BUDGET, Plan, natural_query, plan_own_words, plan_queries
from bot.search.ranking.relevance import CountedWords, WordRarity
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
from bot.search.sources.configured import KnownIssues, Siblings
from bot.search.sources.github import Discussions, GitHubHybrid, GitHubLexical, GitHubSimilar, PullRequests
from bot.text.terms import read

log = logging.getLogger(__name__)

FULL_TEXT, VECTORS = INDEX  # names of sources

# These sources use no words or queries of the plan.
_UNPLANNED = (GitHubSimilar.name, GitHubHybrid.name)

#: Sources that send lexical searches of their own, in addition to the plan's.
EXTRA_SEARCHES = (PullRequests.name, Siblings.name)

_NETWORK = (GitHubLexical, GitHubHybrid, GitHubSimilar, KnownIssues, PullRequests, Discussions, Siblings)
SOURCE_NAMES = (*INDEX, *(source.name for source in _NETWORK))


def only_sources(*names: str) -> dict[str, SourceConfig]:
    """Settings that switch on only these sources."""
    return {name: SourceConfig(enabled=name in names) for name in SOURCE_NAMES}


#: How many issues are read on first contact with a repository.
RECENT_ISSUES = 200


class RecentIssuesCache:
    """Caches the latest issues of repositories for word statistics. Reads again only if the cache has too few."""

    def __init__(self, github: GitHubReads) -> None:
        self._github = github
        self._issues: dict[str, list[Issue]] = {}

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        """The latest issues, at most `limit`. Raises the errors of `GitHubReads.recent_issues`."""
        cached = self._issues.get(repo.key, ())
        if len(cached) < limit:
            cached = self._issues[repo.key] = self._github.recent_issues(repo, limit)
        return list(cached[:limit])


def count_words(stats: CountedWords, issues: Iterable[Issue]) -> None:
    """Add issues to the statistics."""
    stats.add({issue.number: read(issue.title, issue.body).counted() for issue in issues})


def ensure_word_stats(recent: RecentIssuesCache, stats: CountedWords, repo: RepoRef) -> bool:
    """Count a repository's words on first contact. Returns False if GitHub fails; then all words count alike."""
    if stats.total():
        return True
    try:
        issues = recent.recent_issues(repo, RECENT_ISSUES)
    except (GitHubError, Retryable) as failure:
        log.warning("the recent issues of %s could not be read, all words count alike: %s", repo, failure)
        return False
    count_words(stats, issues)
    return True


#: The texts of this many hits are compared, best ranks first; lower ranks are not worth the time.
MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class FinderSettings:
    """How to search a repository.

    `words_max` is the number of title words (F3), and `budget` the number of searches by words for each issue (F8).
    `hybrid` switches GitHub's search by meaning on, unless `sources` has a setting for it. `template_headings` are the
    headings of the repository's issue forms. `workflow_field` is the project field to show (F7; None: fields with the
    default names). `sources` has settings by name. `known_issues` are always considered.
    """

    words_max: int = 5
    budget: int = DEFAULT_BUDGET
    hybrid: bool = True
    template_headings: tuple[str, ...] = ()
    workflow_field: str | None = None
    sources: Mapping[str, SourceConfig] = field(default_factory=dict)
    known_issues: tuple[int, ...] = ()

    def use(self, *, indexed: bool) -> dict[str, SourceConfig]:
        """The sources to ask, by name, with their own settings or else default settings.

        `indexed` tells whether the repository's own index is complete; an incomplete index is not asked. If the index
        is asked, GitHub's lexical search is off by default. The lexical search reads the same texts, understands less,
        and allows only 30 requests a minute for all repositories of an installation.
        """
        named = self.sources
        asks_index = indexed and any(named.get(name, SourceConfig()).enabled for name in INDEX)
        off = {PullRequests.name, Discussions.name, *([GitHubLexical.name] if asks_index else ())}
        if not self.hybrid:
            off.add(GitHubHybrid.name)
        available = SOURCE_NAMES if indexed else [name for name in SOURCE_NAMES if name not in INDEX]
        settings = {name: named.get(name, SourceConfig(enabled=name not in off)) for name in available}
        return {name: setting for name, setting in settings.items() if setting.enabled}


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the sources found for an issue, before any judgement. `hits` has each result once, best first."""

    answers: tuple[SourceResult, ...]
    hits: tuple[Hit, ...]

    @property
    def likely(self) -> frozenset[str]:
        """The keys of the issues that GitHub calls likely duplicates (F8a)."""
        return frozenset(hit.issue.key for hit in self.hits if hit.likeness and hit.likeness.likely_duplicate)

    @property
    def remembered(self) -> frozenset[str]:
        """The sources that were not asked now, because all their answers are in the cache (T5)."""
        return frozenset(
            answer.source for answer in self.answers if answer.runs and all(run.cached for run in answer.runs)
        )

    @property
    def partly_remembered(self) -> frozenset[str]:
        """The sources with at least one answer from the cache."""
        return frozenset(answer.source for answer in self.answers if any(run.cached for run in answer.runs))


@dataclass(frozen=True, slots=True)
class FederatedSearch:
    """The searches for a repository's issues over the network: GitHub's own searches and the `further` sources.

    Plans rely on `stats`: word counts of the repository's issues. At first contact, `gather` counts `recent` issues.
    With `indexed`, `Finder` also asks the index. The network sources may take `within` seconds (None: no limit; F8b).
    """

    github: GitHubReads
    further: Sequence[Source]
    stats: CountedWords
    recent: RecentIssuesCache
    settings: FinderSettings
    indexed: bool
    within: float | None = None

    def gather(self, target: Issue, state: StateFilter, words: str) -> Gathered:
        """Ask enabled sources; without any, plan and read nothing. A person's `words` replace the target's text."""
        use = self.settings.use(indexed=self.indexed)
        github, known = self.github, self.settings.known_issues
        available: list[Source] = [
            GitHubSimilar(github),
            GitHubLexical(github),
            GitHubHybrid(github),
            PullRequests(github),
            *self.further,
        ]
        if known and not self.indexed:  # With an index, `Finder` takes the known issues from the index.
            available.append(KnownIssues(github, known))
        by_name = {source.name: source for source in available}
        asked = [by_name[name] for name in use if name in by_name]
        if not asked:
            return Gathered((), ())
        # A person's words need no statistics. With an index, read issues only if GitHub's search by words is on.
        if not words and (GitHubLexical.name in use or not self.indexed):
            ensure_word_stats(self.recent, self.stats, target.repo)
        # Plan at least one search for GitHubLexical, even if the extra searches use up the budget.
        budget = max(1, self.settings.budget - sum(source.name in EXTRA_SEARCHES for source in asked))
        planned = [source for source in asked if source.name not in _UNPLANNED]
        plan = self._plan(target, state, words, budget) if planned else Plan(())
        question = SearchRequest(target, plan, natural_query(target.repo, words or target.title, state), state)
        # Without an index, ask for GitHub's own ranking (F8a) before searches that may wait for their rate limit.
        first = [source for source in asked if source.name == GitHubSimilar.name and not self.indexed]
        rest = [source for source in asked if source not in first]
        answers = tuple(
            limit_results(_valid_results(answer, target), use[answer.source].limit)
            for answer in (*ask_all(first, question), *ask_all(rest, question, self.within))
        )
        return Gathered(answers, tuple(merge_results(answers, target.created_at, use)))

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


def _valid_results(answer: SourceResult, target: Issue) -> SourceResult:
    """The answer without the target, and without results of a kind that the source does not search for.

    A server may send anything. Only `Siblings` may find issues of other repositories, because only this source checks
    that these repositories are public.
    """

    def is_valid(issue: Issue) -> bool:
        is_elsewhere = issue.repo.key != target.repo.key
        is_target = not is_elsewhere and issue.number == target.number
        must_be_elsewhere = answer.source == Siblings.name
        if is_target or is_elsewhere != must_be_elsewhere:
            return False
        if is_own_issue(issue):  # The bot's own issues (the digest, the scan) resemble every issue.
            return False
        # Pull requests come only from PullRequests, discussions only from Discussions; neither finds anything else.
        wants_pulls, wants_discussions = answer.source == PullRequests.name, answer.source == Discussions.name
        return issue.is_pull_request == wants_pulls and issue.is_discussion == wants_discussions

    return replace(answer, lists=tuple(tuple(filter(is_valid, issues)) for issues in answer.lists))
