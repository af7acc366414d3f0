"""The heart of everything: `find_duplicates` (F1–F9). Webhook, command, CLI, replay and tests all enter here.

The finder has effects only through the client and the word statistics that it is given. What is asked is planned in
`ranking/plan.py`, put to the sources in `sources/`, and judged in `ranking/judging.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from bot.errors import InvalidArgument
from bot.model import Issue, RepoRef
from bot.ranking.judging import DEFAULT_RELEVANCE, Judged, Relevance, judge
from bot.ranking.model import Model, shipped_model
from bot.ranking.plan import DEFAULT_BUDGET, Plan, natural_query, plan_own_words, plan_queries
from bot.ranking.presenting import present
from bot.ranking.query import StateFilter
from bot.ranking.rarity import CountedWords, Rarity, WordStats
from bot.ranking.text import read
from bot.report import Candidate, Outcome, Report
from bot.sources import Answer, GitHubHybrid, GitHubLexical, Hit, Question, Searcher, Source, ask_all, counts, merge
from bot.sources.vocabulary import RecentReader, count_words, make_acquaintance

#: Hits whose texts are compared, best ranks first; what ranks lower is not worth the time.
MOST_COMPARED = 200


class WorkflowAnswer(Protocol):
    """`bot.github.workflow.WorkflowStates`."""

    @property
    def states(self) -> Mapping[int, str | None]: ...
    @property
    def reason(self) -> str: ...


class GitHubReads(Searcher, RecentReader, Protocol):
    """What the finder asks of GitHub; `RepoClient` and its view for a thread have it."""

    def issue(self, repo: RepoRef, number: int) -> Issue: ...
    def workflow_states(self, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowAnswer: ...


@dataclass(frozen=True, slots=True)
class FinderSettings:
    """How a repository wants to be searched.

    `words_max` is F3's number of title words, `budget` F8's number of lexical searches an issue, `hybrid` whether the
    one request by meaning is made too, `template_headings` what the repository's issue forms supply, and
    `workflow_field` the project field that F7 shows (None: its default names).
    """

    words_max: int = 5
    budget: int = DEFAULT_BUDGET
    hybrid: bool = True
    template_headings: tuple[str, ...] = ()
    workflow_field: str | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the sources brought up for one issue, best first and each issue once, before anything is judged."""

    plan: Plan
    answers: tuple[Answer, ...]
    hits: tuple[Hit, ...]


class Finder:
    """Looks for earlier reports of an issue.

    `words` are the word statistics of the repository that is asked about; without them the finder keeps its own as long
    as it lives. `default` is the repository to ask about where a caller names none (F1).
    """

    def __init__(
        self,
        github: GitHubReads,
        *,
        words: WordStats | None = None,
        settings: FinderSettings | None = None,
        default: RepoRef | None = None,
        model: Model | None = None,
    ) -> None:
        self._github = github
        self._words = CountedWords() if words is None else words
        self._settings = settings or FinderSettings()
        self._default = default
        self._given_model = model

    def find_duplicates(
        self,
        owner: str | None = None,
        repo: str | None = None,
        number: int | None = None,
        threshold: float = 0.3,
        max_candidates: int = 10,
        include_closed: bool = False,
        relevance: str = DEFAULT_RELEVANCE,
        *,
        min_confidence: float | None = None,
        state: StateFilter | None = None,
        words: str = "",
        rejected: Collection[int] = (),
        earlier_only: bool = False,
    ) -> Report:
        """Fetch an issue and look for others that report the same thing (F2).

        `threshold` is the least similarity of titles (F5), `min_confidence` the least learned probability, both in
        [0, 1]; `relevance` is what candidates are sorted by, `learned` or `title`. `state` says more exactly than
        `include_closed` which issues count. `words` replace the words that are searched for, `rejected` are numbers
        that are never shown, `earlier_only` leaves out issues with a higher number. Raises InvalidArgument naming the
        argument, and what `RepoClient.issue` raises for the issue itself; a failing search is told in the report.
        """
        owner = owner or (self._default.owner if self._default else None)
        repo = repo or (self._default.name if self._default else None)
        if not owner or not repo:
            raise InvalidArgument("repo" if owner else "owner", "is missing, and no default repository is set")
        place = RepoRef.parse(f"{owner}/{repo}")
        if number is None:
            raise InvalidArgument("number", "is missing")
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InvalidArgument("number", f"{number!r} is not the number of an issue")
        _check(threshold, max_candidates, relevance, min_confidence)
        return self.find(
            self._github.issue(place, number),
            threshold=threshold,
            max_candidates=max_candidates,
            relevance=relevance,
            min_confidence=min_confidence,
            state=state or ("all" if include_closed else "open"),
            words=words,
            rejected=rejected,
            earlier_only=earlier_only,
        )

    def find(
        self,
        target: Issue,
        *,
        threshold: float = 0.3,
        max_candidates: int = 10,
        relevance: str = DEFAULT_RELEVANCE,
        min_confidence: float | None = None,
        state: StateFilter = "open",
        words: str = "",
        rejected: Collection[int] = (),
        earlier_only: bool = False,
    ) -> Report:
        """Like `find_duplicates`, for an issue that the caller has read already."""
        _check(threshold, max_candidates, relevance, min_confidence)
        gathered = self.gather(target, state=state, words=words)
        candidates = [
            hit.issue for hit in gathered.hits if _may_count(hit.issue, target, state, rejected, earlier_only)
        ]
        # The words that a person searched for are evidence as well as what the issue says.
        weighed = replace(target, body=f"{words}\n{target.body}") if words else target
        judged, rarity = judge(
            weighed,
            candidates[:MOST_COMPARED],
            self._words,
            self._model,
            relevance=Relevance(relevance),
            threshold=threshold,
        )
        shown = [one for one in judged if min_confidence is None or one.confidence >= min_confidence][:max_candidates]
        return Report(
            repo=str(target.repo),
            number=target.number,
            title=target.title,
            outcome=_outcome(gathered.answers, found=bool(shown)),
            candidates=self._present(target, shown, {hit.issue.number: hit.sources for hit in gathered.hits}, rarity),
            search_query=next(iter(gathered.plan.queries), ""),
            queries=tuple(run for answer in gathered.answers for run in answer.runs),
            problems=tuple(problem for answer in gathered.answers for problem in answer.problems),
            relevance=str(relevance),
            threshold=threshold,
            counts=dict(counts(gathered.answers, gathered.hits)),
            best_confidence=max((one.confidence for one in judged), default=None),
        )

    def gather(self, target: Issue, *, state: StateFilter = "all", words: str = "") -> Gathered:
        """Plan, ask and merge, without judging: what `find` and the training have in common."""
        make_acquaintance(self._github, self._words, target.repo)
        plan = self._plan(target, words, state)
        natural = natural_query(target.repo, words or target.title, state)
        answers = ask_all(self._sources(), Question(target, plan, natural))
        return Gathered(plan, tuple(answers), tuple(merge(answers, target.created_at)))

    def compare(self, target: Issue, other: Issue) -> Candidate:
        """One issue judged as a candidate for another, found or not (`/duplicates explain #N`)."""
        judged, rarity = judge(target, [other], self._words, self._model, relevance=DEFAULT_RELEVANCE, threshold=0.0)
        return self._present(target, judged, {}, rarity)[0]

    @property
    def _model(self) -> Model:
        # Read on first use: training looks for candidates without any.
        return self._given_model or shipped_model()

    def notice(self, issue: Issue) -> None:
        """Count the words of an issue that arrived: after its find, for which its own words are no evidence."""
        count_words(self._words, [issue])

    def _sources(self) -> list[Source]:
        sources: list[Source] = [GitHubLexical(self._github)]
        if self._settings.hybrid:
            sources.append(GitHubHybrid(self._github))
        return sources

    def _plan(self, target: Issue, words: str, state: StateFilter) -> Plan:
        settings = self._settings
        if words:
            return plan_own_words(target.repo, words, budget=settings.budget, state=state)
        rarity = Rarity.of(self._words, read(target.title, target.body).all)
        return plan_queries(
            target.repo,
            target.title,
            target.body,
            rarity,
            budget=settings.budget,
            state=state,
            words_max=settings.words_max,
            template_headings=settings.template_headings,
        )

    def _present(
        self, target: Issue, judged: Sequence[Judged], sources: Mapping[int, tuple[str, ...]], rarity: Rarity
    ) -> tuple[Candidate, ...]:
        """The candidates as the report shows them, with their workflow states and the reasons in words."""
        if not judged:
            return ()
        numbers = [one.issue.number for one in judged]
        workflow = self._github.workflow_states(target.repo, numbers, self._settings.workflow_field)
        return present(
            target,
            judged,
            rarity,
            sources=sources,
            workflow_states=workflow.states,
            workflow_reason=workflow.reason,
        )


def _check(threshold: float, max_candidates: int, relevance: str, min_confidence: float | None) -> None:
    """F1, with the comparisons written so that NaN fails them too."""
    if not 0 <= threshold <= 1:
        raise InvalidArgument("threshold", f"{threshold!r} is not between 0 and 1")
    if isinstance(max_candidates, bool) or not isinstance(max_candidates, int) or max_candidates < 1:
        raise InvalidArgument("max_candidates", f"{max_candidates!r} is not 1 or more")
    if relevance not in tuple(Relevance):
        raise InvalidArgument("relevance", f"{relevance!r} is none of: {', '.join(Relevance)}")
    if min_confidence is not None and not 0 <= min_confidence <= 1:
        raise InvalidArgument("min_confidence", f"{min_confidence!r} is not between 0 and 1")


def _may_count(issue: Issue, target: Issue, state: StateFilter, rejected: Collection[int], earlier_only: bool) -> bool:
    """Whether a hit can be a candidate at all: another issue of this repository, of the wanted state, not rejected."""
    return (
        not issue.is_pull_request
        and str(issue.repo).lower() == str(target.repo).lower()
        and issue.number != target.number
        and issue.number not in rejected
        and state in ("all", issue.state)
        and not (earlier_only and issue.number > target.number)
    )


def _outcome(answers: Sequence[Answer], *, found: bool) -> Outcome:
    """F9: an outage or a question that could not be asked is never presented as "no duplicates"."""
    if any(answer.problems for answer in answers):
        return Outcome.DEGRADED
    if found:
        return Outcome.FOUND
    runs = [run for answer in answers for run in answer.runs]
    if not runs or any(run.incomplete for run in runs):
        return Outcome.INCONCLUSIVE
    return Outcome.NONE
