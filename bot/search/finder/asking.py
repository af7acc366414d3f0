"""Where to look, and the looking: everything that is asked over the network, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from bot.conversation.config.schema import SourceConfig
from bot.conversation.own_issues import is_own_issue
from bot.domain.entities import Issue, RepoRef, StateFilter
from bot.platform.at_work import hurried
from bot.search.ranking.plan import DEFAULT_BUDGET, Plan, natural_query, plan_own_words, plan_queries
from bot.search.ranking.rarity import Rarity, WordStats
from bot.search.sources.choosing import FURTHER_SEARCHES, chosen
from bot.search.sources.github import (
    Discussions,
    GitHubHybrid,
    GitHubLexical,
    GitHubSimilar,
    PullRequests,
    SimilarReader,
)
from bot.search.sources.merging import Hit, limited, merge
from bot.search.sources.named import KnownIssues, Siblings
from bot.search.sources.protocol import Answer, Question, Searcher, Source, ask_all
from bot.search.sources.vocabulary import RecentReader, make_acquaintance
from bot.text.terms import read

#: Hits whose texts are compared, best ranks first; what ranks lower is not worth the time.
MOST_COMPARED = 200


class WorkflowAnswer(Protocol):
    """`bot.github.many.WorkflowStates`."""

    @property
    def states(self) -> Mapping[int, str | None]: ...
    @property
    def reason(self) -> str: ...


class GitHubReads(Searcher, SimilarReader, RecentReader, Protocol):
    """What the finder asks of GitHub; `RepoClient` and its view for a thread have it."""

    def issue(self, repo: RepoRef, number: int) -> Issue: ...
    def workflow_states(self, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowAnswer: ...


@dataclass(frozen=True, slots=True)
class FinderSettings:
    """How a repository wants to be searched.

    `words_max` is F3's number of title words, `budget` F8's number of searches by words an issue, `hybrid` whether the
    one request by meaning is made where `sources` does not say, `template_headings` what the repository's issue forms
    supply, and `workflow_field` the project field that F7 shows (None: its default names). `sources` are settings by
    name; those not named are asked as `bot.search.sources.choosing` says. `known_issues` are always considered.
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
        return chosen(self.sources, indexed=indexed, hybrid=self.hybrid)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the sources brought up for one issue, best first and each once, before anything is judged."""

    plan: Plan
    answers: tuple[Answer, ...]
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
class Network:
    """Where a repository's issues are looked for over the network: GitHub's searches and the `further` sources.

    `stats` are the words of its issues, by which searches are planned, at first those of the `recent` ones. `indexed`
    says that an index is asked as well, and `within` how many seconds these sources have then, if not all that it takes
    (F8b).
    """

    github: GitHubReads
    further: Sequence[Source]
    stats: WordStats
    recent: RecentReader
    settings: FinderSettings
    indexed: bool
    within: float | None = None

    def gather(self, target: Issue, state: StateFilter, words: str) -> Gathered:
        """Ask all of them; `words` replace those of the target. Without any to ask nothing is planned or read."""
        within = self.within if self.indexed else None
        with hurried(within):
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
        make_acquaintance(self.recent, self.stats, target.repo)
        # Each makes one at least: a source that was turned on and is never asked would be the worse surprise.
        budget = max(1, self.settings.budget - sum(source.name in FURTHER_SEARCHES for source in asked))
        plan = self._plan(target, state, words, budget)
        question = Question(target, plan, natural_query(target.repo, words or target.title, state), state)
        # What GitHub ranks itself costs no search: without an index it has answered before any is made (F8a).
        first = [source for source in asked if source.name == GitHubSimilar.name and not self.indexed]
        rest = [source for source in asked if source not in first]
        answers = tuple(
            limited(_of_its_kind(answer, target), use[answer.source].limit)
            for answer in (*ask_all(first, question), *ask_all(rest, question, within))
        )
        return Gathered(plan, answers, tuple(merge(answers, target.created_at, use)))

    def _plan(self, target: Issue, state: StateFilter, words: str, budget: int) -> Plan:
        if words:
            return plan_own_words(target.repo, words, budget=budget, state=state)
        return plan_queries(
            target.repo,
            target.title,
            target.body,
            Rarity.of(self.stats, read(target.title, target.body).all),
            budget=budget,
            state=state,
            words_max=self.settings.words_max,
            template_headings=self.settings.template_headings,
        )


def _of_its_kind(answer: Answer, target: Issue) -> Answer:
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
