"""`Finder.find_duplicates` (F2): search, merge, score, group, present.

The finder has side effects only through objects of its caller: client, index, sources, word statistics and judge.
`sources/federated.py` searches over the network; `scoring.py` and `unindexed.py` score the results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice

from bot.domain.entities import Issue, RepoRef, StateFilter
from bot.domain.errors import GitHubError, InvalidArgument, NotFound, Retryable, SourceProblem
from bot.domain.judge_protocol import JUDGE, JudgeAnswer
from bot.domain.report import Candidate, Report
from bot.github.transport import time_limit
from bot.search.finder import results, scoring
from bot.search.finder.options import FindOptions
from bot.search.finder.results import RankedResult
from bot.search.finder.scoring import Draft, IndexResults, Judge, ScoredResults
from bot.search.finder.unindexed import TemporaryIndexes, UnindexedScorer, issues_before, score_unindexed
from bot.search.index.analysis import FormLines
from bot.search.matching import Matcher, SearchSession
from bot.search.ranking.query import has_usable_words
from bot.search.ranking.relevance import DEFAULT_RELEVANCE, CountedWords, Relevance, relevances
from bot.search.ranking.similarity import dice_sorensen
from bot.search.sources import GitHubReads, Hit, Source, collapse_discussions
from bot.search.sources.federated import (
    FederatedSearch,
    FinderSettings,
    Gathered,
    RecentIssuesCache,
    count_words,
    ensure_word_stats,
)
from bot.text.github_urls import named_by

# Without an index, at most this many issues are read one by one to follow chains of duplicates.
_MOST_READ = 5
# None without an index.
_Session = SearchSession | None
# The answer if no judge is asked.
_NO_OPINION = JudgeAnswer()


class Finder:
    """Looks for earlier reports of an issue.

    With a `matcher`, the finder searches the index, which must hold the repository `repo_id`. Without a `matcher`, it
    uses only GitHub's searches. `temporary` makes temporary indexes for hits that are in no index. `further` has more
    sources, such as discussions.

    Without the repository's `word_stats`, the finder collects its own in memory. `issues` is how many issues the
    repository has, if known. Callers of `find_duplicates` that name no repository get `default` (F1). With a
    matcher, the sources over the network may take `within` seconds (None: no limit). The report
    names late sources (F8b). A `judge` reads the likeliest candidates (J).
    """

    def __init__(
        self,
        github: GitHubReads,
        *,
        word_stats: CountedWords | None = None,
        issues: int | None = None,
        settings: FinderSettings | None = None,
        default: RepoRef | None = None,
        matcher: Matcher | None = None,
        temporary: TemporaryIndexes | None = None,
        repo_id: int | None = None,
        further: Sequence[Source] = (),
        within: float | None = None,
        judge: Judge | None = None,
    ) -> None:
        if matcher is not None and repo_id is None:
            raise InvalidArgument("repo_id", "is missing: an index holds many repositories")
        self._github = github
        self._word_stats = CountedWords() if word_stats is None else word_stats
        self._issue_count = issues
        self._settings = settings or FinderSettings()
        self._default = default
        self._matcher = matcher
        self._temporary = temporary or TemporaryIndexes()
        self._judge = judge
        self._repo_id = repo_id or 0
        self._recent = RecentIssuesCache(github)
        indexed = matcher is not None
        within = within if indexed else None
        self._network = FederatedSearch(
            github, tuple(further), self._word_stats, self._recent, self._settings, indexed, within
        )

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
        sources: Collection[str] = (),
    ) -> Report:
        """Read an issue and look for others that report the same thing (F2).

        `state` overrides `include_closed`. `FindOptions` explains the other arguments. Raises the
        errors of `RepoClient.issue`, and InvalidArgument. The report names failed searches.
        """
        owner = owner or (self._default.owner if self._default else None)
        repo = repo or (self._default.name if self._default else None)
        if not owner or not repo:
            raise InvalidArgument("repo" if owner else "owner", "is missing, and no default repository is set")
        ref = RepoRef.of(owner, repo)
        if number is None:
            raise InvalidArgument("number", "is missing")
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InvalidArgument("number", f"{number!r} is not the number of an issue")
        if not isinstance(include_closed, bool):
            # The text "no" would count as True.
            raise InvalidArgument("include_closed", f"{include_closed!r} is neither True nor False")
        options = FindOptions(
            threshold=threshold,
            max_candidates=max_candidates,
            relevance=relevance,
            min_confidence=min_confidence,
            state=state or ("all" if include_closed else "open"),
            words=words,
            rejected=rejected,
            earlier_only=earlier_only,
            sources=sources,
        )
        target = self._github.issue(ref, number)
        return self.find(target, replace(options, named=named_by(target), show_named=True))

    def find(self, target: Issue, options: FindOptions, gathered: Gathered | None = None) -> Report:
        """Like `find_duplicates`, for an issue that the caller has read. With `gathered`, no source is asked again."""
        # Search GitHub before a session holds a database connection: GitHub takes a hundred times as long as the index.
        gathered = gathered or self.gather(target, state=options.state, words=options.words)
        with self._session(target, options, gathered.hits) as (session, unindexed):
            draft = self._draft(target, options, gathered, session, unindexed)
        report, shown = self._report(target, options, gathered, draft, indexed=session is not None)
        report = replace(report, candidates=self._present(target, shown))
        return report.of_sources(options.sources) if options.sources else report

    def gather(self, target: Issue, *, state: StateFilter = "all", words: str = "") -> Gathered:
        """Plan the searches, ask the sources and merge the results, without scoring. `find` accepts the result."""
        with time_limit(self._network.within):
            return self._network.gather(target, state, words)

    def compare(self, target: Issue, other: Issue, *, earlier_only: bool = False) -> Candidate:
        """Score `other` as a candidate for `target`, even if no source finds it (`/duplicates explain #N`)."""
        options = FindOptions(earlier_only=earlier_only)
        with self._session(target, options) as (session, _):
            # `session.judge` does not ask `self._judge`. It returns only `other`, because `numbers` is empty.
            matches = [] if session is None else session.judge(numbers=(), also=[other.number])
            scored = [(match.confidence, match.explain()) for match in matches[:1]]
        if not scored:
            hit = Hit(other, ())
            with self._session(target, options, [hit]) as (_, unindexed):
                scored = [(one.confidence, one.reasons()) for one in unindexed([hit])]
        ((confidence, reasons),) = scored
        return self._present(target, [RankedResult(other, confidence, confidence, reasons=reasons)])[0]

    def find_ungrouped(
        self, target: Issue, options: FindOptions, gathered: Gathered, numbers: Collection[int]
    ) -> dict[int, Candidate]:
        """The candidates with one of these `numbers`, likeliest first: each with its own scores, not its group's."""
        with self._session(target, options, gathered.hits) as (session, unindexed):
            _, candidates = self._score(target, options, gathered, session, unindexed)
            found = [one for one in candidates if results.is_own(one.issue, target) and one.issue.number in numbers]
            results_found = [RankedResult(one.issue, one.confidence, one.confidence, one.sources) for one in found]
            reasons = scoring.reasons_of(list(zip(results_found, found, strict=True)), (), gathered)
            results_found = [replace(result, reasons=reasons[id(result)]) for result in results_found]
        return {one.number: one for one in self._present(target, results_found)}

    def own_texts(self, target: Issue, candidates: Sequence[Candidate], read: Iterable[Issue]) -> list[str]:
        """The texts that the candidates' authors wrote. `read` has issues that the caller has already read."""
        return results.own_texts(target, candidates, read, self._github, self._temporary.index, self._repo_id)

    def notice(self, issue: Issue) -> None:
        """Count a new issue's words for later searches. Call this after the search for the issue's own duplicates."""
        if ensure_word_stats(self._recent, self._word_stats, issue.repo):
            count_words(self._word_stats, [issue])

    def _draft(
        self, target: Issue, options: FindOptions, gathered: Gathered, session: _Session, unindexed: UnindexedScorer
    ) -> Draft:
        """Do all work that needs the index: order the results, and find reasons for those that may be shown."""
        # A person's search words are evidence, like the issue's text.
        searched = replace(target, body=f"{options.words}\n{target.body}") if options.words else target
        inside, candidates = self._score(searched, options, gathered, session, unindexed)
        ranked = self._rank(searched, candidates, options, session)
        found = scoring.group_results(target, ranked, options, self._look_up(target, session))
        worth = [] if self._judge is None else scoring.worth_judging(found, target, self._judge.floor)
        shown = [] if worth else self._choose_shown(found, options, target, gathered, indexed=session is not None)
        # Verdicts can hide all results in `worth`. Then the next results are shown, so these need reasons, too.
        explained = [*shown, *worth, *(found[: options.max_candidates + len(worth)] if worth else ())]
        reasons = scoring.reasons_of(explained, found[: results.MOST_CONSIDERED], gathered) if options.explained else {}

        def with_reasons(pairs: ScoredResults) -> ScoredResults:
            return [(replace(row, reasons=reasons.get(id(row), ())), one) for row, one in pairs]

        best = max((one.confidence for one in candidates), default=None)
        return Draft(inside, with_reasons(found), with_reasons(worth), with_reasons(shown), best)

    def _report(
        self, target: Issue, options: FindOptions, gathered: Gathered, draft: Draft, *, indexed: bool
    ) -> tuple[Report, Sequence[RankedResult]]:
        """Ask the judge, if there is one. Returns the report without candidates, and the results to show in it."""
        inside, found, shown, best, opinion = draft.inside, draft.found, draft.shown, draft.best, _NO_OPINION
        if self._judge is not None and draft.worth:
            opinion = scoring.ask_judge(self._judge, target, draft.worth, self._temporary.index, self._repo_id)
            found = scoring.with_opinion(found, target, self._judge, opinion, options.by)
            shown = self._choose_shown(found, options, target, gathered, opinion, indexed=indexed)
            best = max(result.confidence for result, _ in found)
        runs = (*inside.runs, *(run for answer in gathered.answers for run in answer.runs))
        failed = (*inside.problems, *(problem for answer in gathered.answers for problem in answer.problems))
        if opinion.problem is not None:
            failed += (SourceProblem(JUDGE, opinion.problem),)
        # If a person gave search words, the sources searched for these words, not for the issue's.
        usable = has_usable_words(options.words) if options.words else has_usable_words(target.title, target.body)
        first = [result for result, _ in found[: results.MOST_CONSIDERED]]
        report = Report(
            repo=str(target.repo),
            number=target.number,
            title=target.title,
            outcome=results.outcome(runs, failed, found=bool(shown), usable=usable),
            candidates=(),
            search_query=results.search_query(runs),
            queries=runs,
            problems=failed,
            relevance=str(options.relevance),
            threshold=options.threshold,
            counts=results.counted(inside.found, gathered, target, options.sources),
            best_confidence=best,
            considered=results.considered(target, first, inside.found, gathered.answers) if options.explained else (),
        )
        return report, [result for result, _ in shown]

    def _choose_shown(
        self,
        found: ScoredResults,
        options: FindOptions,
        target: Issue,
        gathered: Gathered,
        opinion: JudgeAnswer = _NO_OPINION,
        *,
        indexed: bool,
    ) -> ScoredResults:
        def is_wanted(one: RankedResult) -> bool:
            unread_by_judge = bool(opinion.said) and one.verdict is None and results.is_own(one.issue, target)
            return options.may_show(one.confidence, one.sources, one.verdict, unread=unread_by_judge)

        wanted = (pair for pair in found if is_wanted(pair[0]))
        # With an index, `_score` has already left out the issues that no longer exist.
        if not indexed:
            wanted = (pair for pair in wanted if self._still_exists(pair[0], target, gathered))
        return list(islice(wanted, options.max_candidates))

    def _score(
        self, target: Issue, options: FindOptions, gathered: Gathered, session: _Session, unindexed: UnindexedScorer
    ) -> tuple[IndexResults, list[scoring.ScoredIssue]]:
        """Score all hits. Returns the index's answer, and the candidates of all sources, most likely first."""
        inside = self._score_indexed(target, gathered, session)
        cached_sources = frozenset[str]() if session is None else gathered.remembered

        def is_outside(hit: Hit) -> bool:
            # The index is complete. If an issue is only in cached answers, the issue was deleted or moved.
            known_or_gone = hit.issue.number in inside.indexed or cached_sources.issuperset(hit.sources)
            is_skipped = known_or_gone and results.is_own(hit.issue, target)
            return not is_skipped and options.may_mention(hit.issue, target)

        unindexed_hits = [hit for hit in gathered.hits if is_outside(hit)]
        return inside, sorted(
            [*inside.candidates, *unindexed(collapse_discussions(unindexed_hits))],
            key=lambda one: -one.confidence,
        )

    def _score_indexed(self, target: Issue, gathered: Gathered, session: _Session) -> IndexResults:
        if session is None:
            return IndexResults()
        use = self._settings.use(indexed=True)
        # Issues with many duplicates are treated like known issues.
        known = dict.fromkeys((*self._settings.known_issues, *session.frequent_originals()))
        known.pop(target.number, None)
        return scoring.score_indexed(session, target, use, gathered.hits, tuple(known))

    def _rank(
        self, target: Issue, candidates: Sequence[scoring.ScoredIssue], options: FindOptions, session: _Session
    ) -> list[tuple[scoring.ScoredIssue, float]]:
        """The candidates that reach the threshold, each with its relevance by `options.by` (H5), best first."""
        similar = [
            one
            for one in candidates
            if not options.threshold or dice_sorensen(target.title, one.issue.title) >= options.threshold
        ]
        confidences = [one.confidence for one in similar]
        if options.by is Relevance.LEARNED:
            # This relevance is the confidence, by which the candidates are sorted already.
            return list(zip(similar, confidences, strict=True))
        own = {one.issue.number for one in similar if results.is_own(one.issue, target)}
        # Candidates from the index come without bodies.
        texts = session.texts(own) if session else {}
        issues = [
            replace(one.issue, body=texts[one.issue.number][1])
            if results.is_own(one.issue, target) and one.issue.number in texts
            else one.issue
            for one in similar
        ]
        ensure_word_stats(self._recent, self._word_stats, target.repo)
        values = relevances(options.by, target, issues, confidences, self._word_stats)
        pairs = list(zip(similar, values, strict=True))
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0].issue.created_at, pair[0].issue.number))

    @contextmanager
    def _session(
        self, target: Issue, options: FindOptions, hits: Sequence[Hit] = ()
    ) -> Iterator[tuple[_Session, UnindexedScorer]]:
        """Open a session over the index, if there is one, and make the scorer for hits that the index does not hold."""
        # Read the forms before the session takes a connection.
        forms = self._temporary.forms(self._repo_id) if hits else FormLines()
        with ExitStack() as stack:
            session = None
            background = partial(self._temporary.background, self._recent, target, self._repo_id)
            if self._matcher is not None:
                below = target.number if options.earlier_only else None
                session = stack.enter_context(
                    self._matcher.session(self._repo_id, target, words=options.words, below=below)
                )
                background = partial(issues_before, session, target)
            # At most this many issues came before the target; fewer if some numbers belong to pull requests.
            earlier = target.number - 1
            total = earlier if self._issue_count is None else min(earlier, self._issue_count)
            unindexed = partial(
                score_unindexed, stack, self._temporary, forms, background, target, self._repo_id, options, total
            )
            yield session, unindexed

    def _look_up(self, target: Issue, session: _Session) -> scoring.LookUp:
        """A reader for issues that no source found. Without an index, the reader asks GitHub."""

        def indexed(numbers: Collection[int]) -> tuple[dict[int, Issue], dict[int, int]]:
            rows = session.issues(numbers) if session else {}
            originals = {key: row.duplicate_of for key, row in rows.items() if row.duplicate_of}
            return {key: scoring.as_issue(row, target) for key, row in rows.items()}, originals

        def read(numbers: Collection[int]) -> tuple[dict[int, Issue], dict[int, int]]:
            found = {}
            for number in list(numbers)[:_MOST_READ]:
                # If an issue cannot be read, its duplicates stay ungrouped.
                with suppress(GitHubError, Retryable):
                    found[number] = self._github.issue(target.repo, number)
            return found, {}

        return indexed if session else read

    def _still_exists(self, one: RankedResult, target: Issue, gathered: Gathered) -> bool:
        """Whether an issue exists. Asks GitHub only if each source of the issue used a cached answer."""
        if results.is_own(one.issue, target) and gathered.partly_remembered.issuperset(one.sources):
            try:
                self._github.issue(target.repo, one.issue.number)
            except NotFound:
                return False
            except (GitHubError, Retryable):
                return True
        return True

    def _present(self, target: Issue, shown: Sequence[RankedResult]) -> tuple[Candidate, ...]:
        """The candidates for the report, with their workflow states (F7)."""
        if not shown:
            return ()
        numbers = [one.issue.number for one in shown if results.is_own(one.issue, target)]
        workflow = self._github.workflow_states(target.repo, numbers, self._settings.workflow_field)
        return results.present(target, shown, workflow)
