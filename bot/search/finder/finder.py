"""`Finder.find_duplicates` (F2): ask, fuse, judge, resolve, present.

The finder has effects only through the client, the index and the word statistics that it is given. What is asked over
the network is in `asking.py`, how it is judged in `weighing.py` and `outside.py`; the former resolves duplicates of
duplicates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice

from bot.domain.entities import Issue, RepoRef, StateFilter
from bot.domain.errors import GitHubError, InvalidArgument, NotFound, Retryable
from bot.domain.judge_protocol import JudgeAnswer
from bot.domain.report import Candidate, Report
from bot.search.finder import reporting, weighing
from bot.search.finder.asking import FinderSettings, Gathered, GitHubReads, Network
from bot.search.finder.judging import Draft, Found, Judge, ask, judged, problems, worth_judging
from bot.search.finder.options import FindOptions
from bot.search.finder.outside import Outside, OutsideLook, shortly_before
from bot.search.finder.reporting import Result
from bot.search.finder.weighing import Inside
from bot.search.index.analysis import Forms
from bot.search.matching import Look, Matcher
from bot.search.ranking.keywords import has_usable_words
from bot.search.ranking.rarity import CountedWords, WordStats
from bot.search.ranking.relevance import DEFAULT_RELEVANCE, Relevance, relevances
from bot.search.ranking.similarity import dice_sorensen
from bot.search.sources.merging import Hit, collapsed
from bot.search.sources.protocol import Source
from bot.search.sources.vocabulary import Remembered, count_words, make_acquaintance
from bot.text.github_urls import named_by

# So many times as many candidates are read from the index as are shown: some are rejected, some share a group.
_SPARE = 3
# Issues that are read one by one to follow duplicates where there is no index.
_MOST_READ = 5
# What a judge says that is not asked.
_NONE = JudgeAnswer()


class Finder:
    """Looks for earlier reports of an issue.

    With a `matcher`, whose index must hold the repository `repo_id`, its sources are asked too; without one GitHub's
    searches stand alone. What no index holds is judged by `outside`. `further` are sources beyond these (see
    `bot.search.sources`).

    `words` are the word statistics of the repository that is asked about; without them the finder keeps its own as long
    as it lives. `issues` is how many there are in it, where that is known. `default` is the repository to ask about
    where a caller names none (F1). Beside a matcher, sources over the network have the seconds that `within` says, and
    what they miss is reported (F8b); None: all that it takes. A `judge` reads the likeliest candidates (J).
    """

    def __init__(
        self,
        github: GitHubReads,
        *,
        words: WordStats | None = None,
        issues: int | None = None,
        settings: FinderSettings | None = None,
        default: RepoRef | None = None,
        matcher: Matcher | None = None,
        outside: Outside | None = None,
        repo_id: int | None = None,
        further: Sequence[Source] = (),
        within: float | None = None,
        judge: Judge | None = None,
    ) -> None:
        if matcher is not None and repo_id is None:
            raise InvalidArgument("repo_id", "is missing: an index holds many repositories")
        self._github = github
        self._words = CountedWords() if words is None else words
        self._issues = issues
        self._settings = settings or FinderSettings()
        self._default = default
        self._matcher = matcher
        self._outside = outside or Outside()
        self._judge = judge
        self._repo_id = repo_id or 0
        self._recent, indexed = Remembered(github), matcher is not None
        self._network = Network(github, tuple(further), self._words, self._recent, self._settings, indexed, within)

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
        """Fetch an issue and look for others that report the same thing (F2).

        `include_closed` is overridden by `state`, which says more exactly which issues count. The other arguments are
        those of `FindOptions`. Raises InvalidArgument naming the argument, and what `RepoClient.issue` raises for the
        issue itself; a failing search is told in the report.
        """
        owner = owner or (self._default.owner if self._default else None)
        repo = repo or (self._default.name if self._default else None)
        if not owner or not repo:
            raise InvalidArgument("repo" if owner else "owner", "is missing, and no default repository is set")
        place = RepoRef.of(owner, repo)
        if number is None:
            raise InvalidArgument("number", "is missing")
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InvalidArgument("number", f"{number!r} is not the number of an issue")
        if not isinstance(include_closed, bool):
            # "no" would count as yes.
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
        target = self._github.issue(place, number)
        return self.find(target, replace(options, named=named_by(target), show_named=True))

    def find(self, target: Issue, options: FindOptions, gathered: Gathered | None = None) -> Report:
        """Like `find_duplicates`, for an issue that the caller has read already.

        `gathered` is what `gather` has brought already: it is judged, and nobody is asked again.
        """
        # Nothing is held open while GitHub is asked, which takes a hundred times as long as the index.
        gathered = gathered or self.gather(target, state=options.state, words=options.words)
        with self._looking(target, options, gathered.hits) as (look, outside):
            drafted = self._draft(target, options, gathered, look, outside)
        report, shown = self._report(target, options, gathered, drafted, indexed=look is not None)
        report = replace(report, candidates=self._present(target, shown))
        return report.of_sources(options.sources) if options.sources else report

    def gather(self, target: Issue, *, state: StateFilter = "all", words: str = "") -> Gathered:
        """Plan, ask and merge, without judging: what `find` and the training have in common."""
        return self._network.gather(target, state, words)

    def compare(self, target: Issue, other: Issue, *, earlier_only: bool = False) -> Candidate:
        """One issue judged as a candidate for another, found or not (`/duplicates explain #N`)."""
        options = FindOptions(earlier_only=earlier_only)
        with self._looking(target, options) as (look, _):
            matches = [] if look is None else look.judge((), also=[other.number])
            judged = [(match.confidence, weighing.said(match)) for match in matches[:1]]
        if not judged:
            hit = Hit(other, ())
            with self._looking(target, options, [hit]) as (_, outside):
                judged = [(one.confidence, one.reasons()) for one in outside.weigh([hit])]
        ((confidence, reasons),) = judged
        return self._present(target, [Result(other, confidence, confidence, reasons=reasons)])[0]

    def apart(
        self, target: Issue, options: FindOptions, gathered: Gathered, numbers: Collection[int]
    ) -> dict[int, Candidate]:
        """Those of the `numbers` that `find` finds with the same arguments, each judged for itself, likeliest first.

        In a report issues that are duplicates of one another are one candidate, with the probability and the reasons of
        the likeliest of them.
        """
        with self._looking(target, options, gathered.hits) as (look, outside):
            _, candidates = self._weigh(target, options, gathered, look, outside)
            found = [one for one in candidates if reporting.is_own(one.issue, target) and one.issue.number in numbers]
            alone = [Result(one.issue, one.confidence, one.confidence, one.sources) for one in found]
            reasons = weighing.reasons_of(list(zip(alone, found, strict=True)), (), gathered)
            alone = [replace(result, reasons=reasons[id(result)]) for result in alone]
        return {one.number: one for one in self._present(target, alone)}

    def own_texts(self, target: Issue, candidates: Sequence[Candidate], read: Iterable[Issue]) -> list[str]:
        """What the authors of these candidates wrote, as far as it can be had; `read` are issues already read."""
        return reporting.own_texts(target, candidates, read, self._github, self._outside.index, self._repo_id)

    def notice(self, issue: Issue) -> None:
        """Count the words of an issue that arrived: after its find, for which its own words are no evidence.

        Not before those of its repository, for which it would stand alone: a bot's is never asked about.
        """
        if make_acquaintance(self._recent, self._words, issue.repo):
            count_words(self._words, [issue])

    def _draft(
        self, target: Issue, options: FindOptions, gathered: Gathered, look: Look | None, outside: OutsideLook
    ) -> Draft:
        """All that takes a look into the index: what was found, in order, with the reasons that may be told."""
        # The words that a person searched for are evidence as well as what the issue says.
        weighed = replace(target, body=f"{options.words}\n{target.body}") if options.words else target
        inside, candidates = self._weigh(weighed, options, gathered, look, outside)
        ranked = self._ranked(weighed, candidates, options, look)
        found = weighing.results(target, ranked, options, self._look_up(target, look))
        worth = [] if self._judge is None else worth_judging(found, target, self._judge.floor)
        shown = [] if worth else self._shown(found, options, target, gathered, indexed=look is not None)
        told = [*shown, *worth, *(found[: options.max_candidates + len(worth)] if worth else ())]
        reasons = weighing.reasons_of(told, found[: reporting.MOST_CONSIDERED], gathered) if options.explained else {}
        places = {id(result): at for at, (result, _) in enumerate(found)}
        found = [(replace(result, reasons=reasons.get(id(result), ())), one) for result, one in found]
        best = max((one.confidence for one in candidates), default=None)
        worth, shown = ([found[places[id(result)]] for result, _ in pairs] for pairs in (worth, shown))
        return Draft(inside, found, worth, shown, best)

    def _report(
        self, target: Issue, options: FindOptions, gathered: Gathered, drafted: Draft, *, indexed: bool
    ) -> tuple[Report, Sequence[Result]]:
        """The report but for its candidates, and what these are. The judge takes its time here, if there is one."""
        inside, found, shown, best, opinion = drafted.inside, drafted.found, drafted.shown, drafted.best, _NONE
        if self._judge is not None and drafted.worth:
            opinion = ask(self._judge, target, drafted.worth, self._outside.index, self._repo_id)
            found = judged(found, self._judge, opinion, options.by)
            shown = self._shown(found, options, target, gathered, opinion, indexed=indexed)
            best = max(result.confidence for result, _ in found)
        runs = (*inside.runs, *(run for answer in gathered.answers for run in answer.runs))
        failed = (*inside.problems, *(problem for answer in gathered.answers for problem in answer.problems))
        failed += problems(opinion)
        # Where words are given, nothing else is asked for.
        usable = has_usable_words(options.words) if options.words else has_usable_words(target.title, target.body)
        first = [result for result, _ in found[: reporting.MOST_CONSIDERED]]
        report = Report(
            repo=str(target.repo),
            number=target.number,
            title=target.title,
            outcome=reporting.outcome(runs, failed, found=bool(shown), usable=usable),
            candidates=(),
            search_query=reporting.search_query(runs),
            queries=runs,
            problems=failed,
            relevance=str(options.relevance),
            threshold=options.threshold,
            counts=reporting.counted(inside.found, gathered, target, options.sources),
            best_confidence=best,
            considered=reporting.considered(target, first, inside.found, gathered.answers) if options.explained else (),
        )
        return report, [result for result, _ in shown]

    def _shown(
        self,
        found: Found,
        options: FindOptions,
        target: Issue,
        gathered: Gathered,
        opinion: JudgeAnswer = _NONE,
        *,
        indexed: bool,
    ) -> Found:
        """Those of what was found that are shown."""

        def may(one: Result) -> bool:
            unread = bool(opinion.said) and one.verdict is None and reporting.is_own(one.issue, target)
            return options.may_show(one.confidence, one.sources, one.verdict, unread=unread)

        wanted = (pair for pair in found if may(pair[0]))
        if not indexed:
            wanted = (pair for pair in wanted if self._is_there(pair[0], target, gathered))
        return list(islice(wanted, options.max_candidates))

    def _weigh(
        self, target: Issue, options: FindOptions, gathered: Gathered, look: Look | None, outside: OutsideLook
    ) -> tuple[Inside, list[weighing.Weighed]]:
        """What the index answered, and all that was found, each judged for itself, most likely first."""
        inside = self._weigh_inside(target, options, gathered, look)
        remembered = frozenset[str]() if look is None else gathered.remembered

        def is_outside(hit: Hit) -> bool:
            # What the whole index does not hold, and answers of minutes ago alone name, was deleted or moved since.
            done = hit.issue.number in inside.held or remembered.issuperset(hit.sources)
            return not (done and reporting.is_own(hit.issue, target)) and options.may_tell(hit.issue, target)

        elsewhere = [hit for hit in gathered.hits if is_outside(hit)]
        return inside, weighing.together(inside.candidates, outside.weigh(collapsed(elsewhere)))

    def _weigh_inside(self, target: Issue, options: FindOptions, gathered: Gathered, look: Look | None) -> Inside:
        if look is None:
            return Inside()
        # All of them matter where something else than their order decides.
        in_order = (
            options.by is Relevance.LEARNED
            and options.threshold == 0
            and options.state == "all"
            and not options.sources
        )
        most = max(50, _SPARE * options.max_candidates) if in_order else None
        use = self._settings.use(indexed=True)
        # What was reported again and again is known as well, though nobody has named it in the settings.
        known = dict.fromkeys((*self._settings.known_issues, *look.magnets()))
        known.pop(target.number, None)
        return weighing.weigh_inside(look, target, use, gathered.hits, tuple(known), most)

    def _ranked(
        self, target: Issue, candidates: Sequence[weighing.Weighed], options: FindOptions, look: Look | None
    ) -> list[tuple[weighing.Weighed, float]]:
        """H5: those over the threshold with their relevance, best first; among equals the order is that of age."""
        kept = [
            one
            for one in candidates
            if not options.threshold or dice_sorensen(target.title, one.issue.title) >= options.threshold
        ]
        confidences = [one.confidence for one in kept]
        if options.by is Relevance.LEARNED:
            return list(zip(kept, confidences, strict=True))
        texts = (
            {}
            if look is None
            else look.texts([one.issue.number for one in kept if reporting.is_own(one.issue, target)])
        )
        issues = [
            replace(one.issue, body=texts[one.issue.number][1])
            if reporting.is_own(one.issue, target) and one.issue.number in texts
            else one.issue
            for one in kept
        ]
        values = relevances(options.by, target, issues, confidences, self._words)
        pairs = list(zip(kept, values, strict=True))
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0].issue.created_at, pair[0].issue.number))

    @contextmanager
    def _looking(
        self, target: Issue, options: FindOptions, hits: Sequence[Hit] = ()
    ) -> Iterator[tuple[Look | None, OutsideLook]]:
        """The look at what the index holds, if there is one, and that at those of the hits that it does not hold."""
        # Numbers count pull requests as well.
        earlier = target.number - 1
        # Before a connection is held.
        forms = self._outside.forms(self._repo_id) if hits else Forms()
        with ExitStack() as stack:
            look, background = None, partial(self._outside.background, self._recent, target, self._repo_id)
            if self._matcher is not None:
                below = target.number if options.earlier_only else None
                look = stack.enter_context(
                    self._matcher.looking(self._repo_id, target, words=options.words, below=below)
                )
                background = partial(shortly_before, look, target)
            outside = OutsideLook(
                stack,
                self._outside,
                forms,
                background,
                target,
                self._repo_id,
                words=options.words,
                total=earlier if self._issues is None else min(earlier, self._issues),
                earlier_only=options.earlier_only,
            )
            yield look, outside

    def _look_up(self, target: Issue, look: Look | None) -> weighing.LookUp:
        """How issues are had that no source found: from the index, else one by one from GitHub."""

        def indexed(numbers: Collection[int]) -> tuple[dict[int, Issue], dict[int, int]]:
            rows = look.issues(numbers) if look else {}
            ties = {number: row.duplicate_of for number, row in rows.items() if row.duplicate_of}
            return {number: weighing.as_issue(row, target) for number, row in rows.items()}, ties

        def read(numbers: Collection[int]) -> tuple[dict[int, Issue], dict[int, int]]:
            found = {}
            for number in list(numbers)[:_MOST_READ]:
                # What cannot be read leads nobody; the candidates stay what they are.
                with suppress(GitHubError, Retryable):
                    found[number] = self._github.issue(target.repo, number)
            return found, {}

        return indexed if look else read

    def _is_there(self, one: Result, target: Issue, gathered: Gathered) -> bool:
        """Whether GitHub still has what an answer of minutes ago may have named, where no index tells what is gone."""
        if reporting.is_own(one.issue, target) and gathered.partly_remembered.issuperset(one.sources):
            try:
                self._github.issue(target.repo, one.issue.number)
            except NotFound:
                return False
            except (GitHubError, Retryable):
                # Nobody says that it is gone.
                return True
        return True

    def _present(self, target: Issue, shown: Sequence[Result]) -> tuple[Candidate, ...]:
        """The candidates as the report shows them, with their workflow states (F7)."""
        if not shown:
            return ()
        numbers = [one.issue.number for one in shown if reporting.is_own(one.issue, target)]
        workflow = self._github.workflow_states(target.repo, numbers, self._settings.workflow_field)
        return reporting.present(target, shown, workflow_states=workflow.states, workflow_reason=workflow.reason)
