"""Scores issues in the index, groups duplicates of one issue, and applies the judge's verdicts (J2, J5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from bot.conversation.config.schema import SourceConfig
from bot.domain.entities import Issue
from bot.domain.errors import SourceProblem
from bot.domain.judge_protocol import MOST_JUDGED, JudgeAnswer, JudgeIssue, JudgeQuestion
from bot.domain.report import MENTION_FROM, QueryRun, Reason, ReasonCode
from bot.search.finder.options import FindOptions
from bot.search.finder.results import RankedResult, is_own, texts_by_line
from bot.search.index import Index, IndexedIssue
from bot.search.matching import SearchSession
from bot.search.ranking.grouping import components, resolve
from bot.search.ranking.relevance import Relevance
from bot.search.sources import Hit, SourceResult, merge_results
from bot.search.sources.configured import KnownIssues, known_run
from bot.search.sources.federated import FULL_TEXT, MOST_COMPARED, VECTORS, Gathered


@dataclass(frozen=True, slots=True)
class ScoredIssue:
    """A candidate with its probability. `reasons` finds the reasons (C3) only when it is called.

    If the index knows that the issue was closed as a duplicate, `duplicate_of` is the number of its original.
    """

    issue: Issue
    confidence: float
    sources: tuple[str, ...]
    reasons: Callable[[], tuple[Reason, ...]]
    duplicate_of: int | None = None


ScoredResults = list[tuple[RankedResult, ScoredIssue]]
"""Pairs of a result and the candidate whose reasons explain the result."""


@dataclass(frozen=True, slots=True)
class IndexResults:
    """The index's answer: candidates, most likely first. `found` maps each source to the issue numbers it found.

    `indexed` has the numbers of the candidates, and of hits in the index that rank too low to be compared. The finder
    scores no hit in `indexed` again: a temporary index could score a low hit too high.
    """

    candidates: tuple[ScoredIssue, ...] = ()
    indexed: frozenset[int] = frozenset()
    found: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    runs: tuple[QueryRun, ...] = ()
    problems: tuple[SourceProblem, ...] = ()


def score_indexed(
    session: SearchSession,
    target: Issue,
    use: Mapping[str, SourceConfig],
    hits: Sequence[Hit],
    known: Sequence[int],
) -> IndexResults:
    """Score issues in the index: those that the index's own sources found, and those in `hits` or `known`.

    `use` has the settings of each source that is asked.
    """
    found, runs = _found_in_index(session, target, use, known)
    own = [hit for hit in hits if is_own(hit.issue, target)]
    sources = _sources(found, own)
    compared = set(sources)
    if len(compared) > MOST_COMPARED:
        # Known issues are always compared.
        compared = _choose_compared(session, target, use, found, own) | {*found.get(KnownIssues.name, ())}
    # `session.judge` uses the index's model, not a `Judge`. It also scores the session's other candidates: drop those.
    matches = [match for match in session.judge(also=compared) if match.number in compared]
    rows = session.issues([match.number for match in matches])
    not_compared = session.issues({hit.issue.number for hit in own} - compared)
    return IndexResults(
        candidates=tuple(
            ScoredIssue(
                as_issue(rows[one.number], target),
                one.confidence,
                sources[one.number],
                one.explain,
                rows[one.number].duplicate_of,
            )
            for one in matches
            if one.number in rows
        ),
        indexed=frozenset((*(match.number for match in matches), *not_compared)),
        found=found,
        runs=runs,
        problems=tuple(one for one in session.problems if one.source in use),
    )


def as_issue(row: IndexedIssue, target: Issue) -> Issue:
    """Turn a row of the index into an issue of the target's repository."""
    home = target.url.rsplit("/", 2)[0]
    return row.issue(target.repo, f"{home}/issues/{row.number}")


def _found_in_index(
    session: SearchSession, target: Issue, use: Mapping[str, SourceConfig], known: Sequence[int]
) -> tuple[dict[str, tuple[int, ...]], tuple[QueryRun, ...]]:
    """The numbers found in the index, by source, and the queries. Issues from `known` have the source `KnownIssues`."""
    found = {
        name: tuple(session.found[name][: use[name].limit])
        for name in (FULL_TEXT, VECTORS)
        if name in use and name in session.found
    }
    runs = [run for run in session.runs if run.source in found and run.query.strip()]
    if known and KnownIssues.name in use:
        others = [number for number in known if number != target.number][: use[KnownIssues.name].limit]
        indexed = session.issues(others)
        found[KnownIssues.name] = tuple(number for number in others if number in indexed)
        runs.append(known_run(others, len(found[KnownIssues.name])))
    return found, tuple(runs)


def _sources(found: Mapping[str, Sequence[int]], own: Sequence[Hit]) -> dict[int, tuple[str, ...]]:
    """H2: the sources that found each issue."""
    sources: dict[int, tuple[str, ...]] = {}
    for name, numbers in found.items():
        for number in numbers:
            sources[number] = (*sources.get(number, ()), name)
    for hit in own:
        sources[hit.issue.number] = (*sources.get(hit.issue.number, ()), *hit.sources)
    return sources


def _choose_compared(
    session: SearchSession,
    target: Issue,
    use: Mapping[str, SourceConfig],
    found: Mapping[str, Sequence[int]],
    own: Sequence[Hit],
) -> set[int]:
    """Choose the issues to compare by the fused ranks of all sources (R2)."""
    rows = session.issues({number for numbers in found.values() for number in numbers})
    lists = {
        name: [as_issue(rows[number], target) for number in numbers if number in rows]
        for name, numbers in found.items()
    }
    for hit in own:
        for name in hit.sources:
            lists.setdefault(name, []).append(hit.issue)
    answers = [SourceResult(name, (tuple(issues),)) for name, issues in lists.items()]
    return {hit.issue.number for hit in merge_results(answers, target.created_at, use)[:MOST_COMPARED]}


def reasons_of(
    shown: Sequence[tuple[RankedResult, ScoredIssue]],
    best: Sequence[tuple[RankedResult, ScoredIssue]],
    gathered: Gathered,
) -> dict[int, tuple[Reason, ...]]:
    """Reasons by `id(result)`: for all `shown`, and for `best` results with a confidence of at least MENTION_FROM."""
    near = [(result, one) for result, one in best if result.confidence >= MENTION_FROM]
    explained = {id(result): (result, one) for result, one in (*shown, *near)}
    likely, by_github = gathered.likely, (Reason(ReasonCode.GITHUB),)
    # GitHub's likely duplicate can be the candidate, or the issue that is shown for the candidate's group.
    return {
        result_id: one.reasons() + (by_github if likely & {one.issue.key, result.issue.key} else ())
        for result_id, (result, one) in explained.items()
    }


#: The most steps along a chain of duplicates, and the most issues looked up in one step.
_MOST_STEPS, _MOST_PER_STEP = 8, 200

LookUp = Callable[[Collection[int]], tuple[Mapping[int, Issue], Mapping[int, int]]]
"""Reads issues by number. Returns those that can be read, and maps duplicates among them to their originals."""


def group_results(
    target: Issue, ranked: Sequence[tuple[ScoredIssue, float]], options: FindOptions, look_up: LookUp
) -> ScoredResults:
    """Group duplicates, and return the results that can be shown, in the order of `ranked` (candidate and relevance).

    A group gets the highest confidence and the highest relevance among its mentionable candidates. Pull
    requests, discussions and issues of other repositories are never grouped. Each result comes with
    its group's best candidate. A result is `named` if the target's text names the issue.
    """
    ranked = [(one, relevance) for one, relevance in ranked if options.may_mention(one.issue, target)]
    own = {one.issue.number: (one, relevance) for one, relevance in ranked if is_own(one.issue, target)}
    by_index = {number: one.duplicate_of for number, (one, _) in own.items() if one.duplicate_of}
    issues = {number: one.issue for number, (one, _) in own.items()}
    known, originals = _with_relatives(issues, by_index, options.duplicates, look_up)
    mentionable = {number: issue for number, issue in known.items() if options.may_mention(issue, target)}
    leaders = {number for number, issue in mentionable.items() if options.may_lead(issue)}
    # A group takes its best candidate's place in the list, so key the groups by that candidate.
    groups = {group.found[0]: group for group in resolve(list(own), originals, mentionable, leaders)}
    shown: ScoredResults = []
    for one, relevance in ranked:
        if not is_own(one.issue, target):
            if options.may_lead(one.issue):
                shown.append((RankedResult(one.issue, one.confidence, relevance, one.sources), one))
        elif group := groups.get(one.issue.number):
            members = [own[number] for number in group.found]
            shown.append((_of_group(mentionable[group.lead], members, group.others), one))
    results = [(replace(result, named=result.issue.key in options.named), one) for result, one in shown]
    return [(result, one) for result, one in results if options.show_named or not result.named]


def _of_group(lead: Issue, members: Sequence[tuple[ScoredIssue, float]], others: tuple[int, ...]) -> RankedResult:
    """The result for a group; each of its `members` is a candidate with its relevance."""
    return RankedResult(
        lead,
        max(member.confidence for member, _ in members),
        max(relevance for _, relevance in members),
        tuple(dict.fromkeys(source for member, _ in members for source in member.sources)),
        also=others,
    )


def _with_relatives(
    candidates: Mapping[int, Issue], by_index: dict[int, int], by_people: Mapping[int, int], look_up: LookUp
) -> tuple[dict[int, Issue], dict[int, int]]:
    """Add the candidates' duplicates and originals. Returns all issues, and the map from duplicates to originals.

    `by_index` and `by_people` map duplicates to originals, as the index knows them and as people decided.
    """
    known = dict(candidates)
    asked = set(candidates)
    for _ in range(_MOST_STEPS):
        near = _tied(candidates, {**by_index, **by_people})
        wanted = sorted(near - asked)[:_MOST_PER_STEP]
        if not wanted:
            break
        asked.update(wanted)
        issues, more = look_up(wanted)
        known.update({number: issue for number, issue in issues.items() if number not in known})
        by_index.update(more)
    # An open issue is no duplicate: somebody reopened it, or left it open.
    open_numbers = {number for number, issue in known.items() if issue.state != "closed"}
    ties = {**by_index, **by_people}
    return known, {number: original for number, original in ties.items() if number not in open_numbers}


def _tied(candidates: Collection[int], ties: Mapping[int, int]) -> set[int]:
    """The candidates, and all issues that a chain of ties links to a candidate."""
    group_of = components(candidates, ties.items())
    groups = {group_of[number] for number in candidates}
    return {number for number, group in group_of.items() if group in groups}


@dataclass(frozen=True, slots=True)
class Draft:
    """The results before the judge reads them. `found` has all, best first; `worth` has those worth judging.

    If `worth` is empty, `shown` has the results to show; otherwise `shown` is empty. `best` is the
    highest probability of all candidates. `inside` is the index's answer.
    """

    inside: IndexResults
    found: ScoredResults
    worth: ScoredResults
    shown: ScoredResults
    best: float | None


class Judge(Protocol):
    """`bot.search.judge.judge.RepositoryJudge`, or its stand-in during a replay."""

    @property
    def floor(self) -> float:
        """The judge reads only candidates of at least this probability."""

    def opinion(self, question: JudgeQuestion, author: str) -> JudgeAnswer:
        """The verdicts. `author` opened the target. If the model fails, the answer says so, and nothing is raised."""

    def probability(self, before: float, opinion: JudgeAnswer, number: int) -> float:
        """The probability of candidate `number` given its verdict (J5); `before` is the probability without it."""


def worth_judging(found: ScoredResults, target: Issue, floor: float) -> ScoredResults:
    """The candidates that the judge reads: the likeliest issues of the target's repository, at most MOST_JUDGED."""
    worth = [
        (result, one)
        for result, one in found
        if result.confidence >= floor and is_own(one.issue, target) and not result.named
    ]
    return sorted(worth, key=lambda pair: -pair[0].confidence)[:MOST_JUDGED]


def ask_judge(judge: Judge, target: Issue, worth: ScoredResults, index: Index | None, repo_id: int) -> JudgeAnswer:
    """Have the judge read these candidates. This takes seconds, so hold no connection to the database meanwhile."""
    issues = [target, *(one.issue for _, one in worth)]
    bodies = texts_by_line(index, repo_id, issues)
    texts = [
        JudgeIssue(one.number, one.title, bodies[one.number], one.state, one.created_at, one.closed_at)
        for one in issues
    ]
    return judge.opinion(JudgeQuestion(texts[0], tuple(texts[1:])), target.author.login)


def with_opinion(
    found: ScoredResults, target: Issue, judge: Judge, opinion: JudgeAnswer, order: Relevance
) -> ScoredResults:
    """Add verdicts and probabilities to the target repository's results, and sort all results."""
    judged = [
        (_judged(result, one, judge, opinion, order) if is_own(one.issue, target) else result, one)
        for result, one in found
    ]
    return sorted(judged, key=lambda pair: -pair[0].relevance)


def _judged(
    result: RankedResult, one: ScoredIssue, judge: Judge, opinion: JudgeAnswer, order: Relevance
) -> RankedResult:
    said = opinion.said.get(one.issue.number)
    if said is None or result.named:
        return result
    confidence = judge.probability(result.confidence, opinion, one.issue.number)
    cause = (Reason(ReasonCode.CAUSE, (said.shared_cause,)),) if said.shared_cause else ()
    return replace(
        result,
        confidence=confidence,
        relevance=confidence if order is Relevance.LEARNED else result.relevance,
        reasons=(*cause, *result.reasons),
        verdict=said.verdict,
        judged_by=opinion.by,
        unjudged=result.confidence,
    )
