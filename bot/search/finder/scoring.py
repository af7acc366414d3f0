"""Scores what the repository's index holds, groups duplicates of duplicates, and applies a judge's opinion (J2, J5).

`unindexed.py` scores what no index holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from bot.conversation.config.schema import SourceConfig
from bot.domain.entities import Issue
from bot.domain.errors import SourceProblem
from bot.domain.judge_protocol import JUDGE, MOST_JUDGED, JudgeAnswer, JudgeIssue, JudgeQuestion
from bot.domain.report import MENTION_FROM, QueryRun, Reason, ReasonCode
from bot.search.finder.options import FindOptions
from bot.search.finder.results import RankedResult, is_own, texts_by_line
from bot.search.index import Index, IndexedIssue
from bot.search.matching import SearchSession
from bot.search.ranking.grouping import components, resolve
from bot.search.ranking.relevance import Relevance
from bot.search.sources import Hit, SourceResult, merge_results
from bot.search.sources.configured import KNOWN_ISSUES, known_run
from bot.search.sources.federated import FULL_TEXT, MOST_COMPARED, VECTORS, Gathered


@dataclass(frozen=True, slots=True)
class ScoredIssue:
    """A candidate with its probability. `reasons` looks for them on demand, which costs a look into two texts (C3).

    `duplicate_of` is the number of the issue that it was closed in favour of, if the index knows it.
    """

    issue: Issue
    confidence: float
    sources: tuple[str, ...]
    reasons: Callable[[], tuple[Reason, ...]]
    duplicate_of: int | None = None


@dataclass(frozen=True, slots=True)
class IndexResults:
    """What the index answered: candidates, most likely first, and the numbers that its sources found, by name.

    `held` has the numbers of all results that are in the index. Some are no candidates: what ranks too low to be
    compared is never scored, because in another list it could seem likelier than what ranks higher.
    """

    candidates: tuple[ScoredIssue, ...] = ()
    held: frozenset[int] = frozenset()
    found: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    runs: tuple[QueryRun, ...] = ()
    problems: tuple[SourceProblem, ...] = ()


def score_indexed(
    session: SearchSession,
    target: Issue,
    use: Mapping[str, SourceConfig],
    hits: Sequence[Hit],
    known: Sequence[int],
    most: int | None,
) -> IndexResults:
    """Score what the index's own sources found, and those of the `hits` and the `known` issues that are in it.

    At most `most` candidates are read from the index, all for None.
    """
    found, runs = _found_inside(session, target, use, known)
    own = [hit for hit in hits if is_own(hit.issue, target)]
    sources = _sources(found, own)
    compared = set(sources)
    if len(compared) > MOST_COMPARED:
        # Pinned issues are considered whatever else is found.
        compared = _best(session, target, use, found, own) | {*found.get(KNOWN_ISSUES, ())}
    matches = [match for match in session.judge(also=compared) if match.number in compared]
    rows = session.issues([match.number for match in matches[:most]])
    left = session.issues({hit.issue.number for hit in own} - compared)
    return IndexResults(
        candidates=tuple(
            ScoredIssue(
                as_issue(rows[one.number], target),
                one.confidence,
                sources[one.number],
                one.explain,
                rows[one.number].duplicate_of,
            )
            for one in matches[:most]
            if one.number in rows
        ),
        held=frozenset((*(match.number for match in matches), *left)),
        found=found,
        runs=runs,
        problems=tuple(one for one in session.problems if one.source in use),
    )


def as_issue(row: IndexedIssue, target: Issue) -> Issue:
    """An issue of the index as GitHub would say it, in the target's repository."""
    home = target.url.rsplit("/", 2)[0]
    return row.issue(target.repo, f"{home}/issues/{row.number}")


def _found_inside(
    session: SearchSession, target: Issue, use: Mapping[str, SourceConfig], known: Sequence[int]
) -> tuple[dict[str, tuple[int, ...]], tuple[QueryRun, ...]]:
    """What the index's own sources found and which of the `known` issues it holds, by source; and what was asked."""
    found = {
        name: tuple(session.found[name][: use[name].limit])
        for name in (FULL_TEXT, VECTORS)
        if name in use and name in session.found
    }
    runs = [run for run in session.runs if run.source in found and run.query.strip()]
    if known and KNOWN_ISSUES in use:
        asked = [number for number in known if number != target.number][: use[KNOWN_ISSUES].limit]
        pinned = session.issues(asked)
        found[KNOWN_ISSUES] = tuple(number for number in asked if number in pinned)
        runs.append(known_run(asked, len(found[KNOWN_ISSUES])))
    return found, tuple(runs)


def _sources(found: Mapping[str, Sequence[int]], own: Sequence[Hit]) -> dict[int, tuple[str, ...]]:
    """H2: every issue with all the sources that found it."""
    sources: dict[int, tuple[str, ...]] = {}
    for name, numbers in found.items():
        for number in numbers:
            sources[number] = (*sources.get(number, ()), name)
    for hit in own:
        sources[hit.issue.number] = (*sources.get(hit.issue.number, ()), *hit.sources)
    return sources


def _best(
    session: SearchSession,
    target: Issue,
    use: Mapping[str, SourceConfig],
    found: Mapping[str, Sequence[int]],
    own: Sequence[Hit],
) -> set[int]:
    """R: more was found than is compared, and the fused ranks of all sources say what is."""
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
    """The reasons of `shown` results, and of the `best` that were nearly shown, by the `id` of the result.

    GitHub's verdict (F8a) comes after what the texts share.
    """
    near = [pair for pair in best if pair[0].confidence >= MENTION_FROM]
    explained = {id(result): (one, {one.issue.key, result.issue.key}) for result, one in (*shown, *near)}
    likely = gathered.likely
    return {
        key: (*one.reasons(), *([] if likely.isdisjoint(keys) else [Reason(ReasonCode.GITHUB)]))
        for key, (one, keys) in explained.items()
    }


#: How far a chain of duplicates is followed from the candidates, and how many issues are looked up for it at most.
_STEPS, _MOST = 8, 200

LookUp = Callable[[Collection[int]], tuple[Mapping[int, Issue], Mapping[int, int]]]
"""Issues by number, as far as they can be had, and which of them is a duplicate of which."""


def group_results(
    target: Issue, ranked: Sequence[tuple[ScoredIssue, float]], options: FindOptions, look_up: LookUp
) -> list[tuple[RankedResult, ScoredIssue]]:
    """The results that can be shown, in the order of `ranked` (each with its relevance), duplicates grouped.

    A group has the best confidence and relevance of its members that may be mentioned. Whatever is no issue of the
    target's repository is a group of its own. Each result comes with the candidate whose reasons explain it: the best
    of its group.
    """
    ranked = [(one, relevance) for one, relevance in ranked if options.may_tell(one.issue, target)]
    own = {one.issue.number: (one, relevance) for one, relevance in ranked if is_own(one.issue, target)}
    ties = {number: one.duplicate_of for number, (one, _) in own.items() if one.duplicate_of}
    issues = {number: one.issue for number, (one, _) in own.items()}
    known, originals = _relatives(issues, ties, options.duplicates, look_up)
    told = {number: issue for number, issue in known.items() if options.may_tell(issue, target)}
    leaders = {number for number, issue in told.items() if options.may_lead(issue)}
    groups = {group.found[0]: group for group in resolve(list(own), originals, told, leaders)}
    shown: list[tuple[RankedResult, ScoredIssue]] = []
    for one, relevance in ranked:
        if not is_own(one.issue, target):
            if options.may_lead(one.issue):
                shown.append((RankedResult(one.issue, one.confidence, relevance, one.sources), one))
        elif group := groups.get(one.issue.number):
            members = [own[number] for number in group.found]
            shown.append((_of_group(told[group.lead], members, group.others), one))
    marked = [(replace(result, named=result.issue.key in options.named), one) for result, one in shown]
    return [(result, one) for result, one in marked if options.show_named or not result.named]


def _of_group(lead: Issue, members: Sequence[tuple[ScoredIssue, float]], others: tuple[int, ...]) -> RankedResult:
    """The result for a group; `members` are its candidates, each with its relevance."""
    return RankedResult(
        lead,
        max(member.confidence for member, _ in members),
        max(relevance for _, relevance in members),
        tuple(dict.fromkeys(source for member, _ in members for source in member.sources)),
        also=others,
    )


def _relatives(
    candidates: Mapping[int, Issue], ties: dict[int, int], told: Mapping[int, int], look_up: LookUp
) -> tuple[dict[int, Issue], dict[int, int]]:
    """The candidates with all their relatives, and the ties; `told` has ties that people made by command."""
    known = dict(candidates)
    asked = set(candidates)
    for _ in range(_STEPS):
        near = _tied(candidates, {**ties, **told})
        wanted = sorted(near - asked)[:_MOST]
        if not wanted:
            break
        asked.update(wanted)
        issues, more = look_up(wanted)
        known.update({number: issue for number, issue in issues.items() if number not in known})
        ties.update(more)
    # An issue that was reopened is no duplicate any more.
    ties = {
        number: of for number, of in {**ties, **told}.items() if number not in known or known[number].state == "closed"
    }
    return known, ties


def _tied(candidates: Collection[int], ties: Mapping[int, int]) -> set[int]:
    of = components(candidates, ties.items())
    groups = {of[number] for number in candidates}
    return {number for number, group in of.items() if group in groups}


ScoredResults = list[tuple[RankedResult, ScoredIssue]]


@dataclass(frozen=True, slots=True)
class Draft:
    """All results, best first; those `worth` asking the judge about; those that are `shown` if there are none of these.

    `best` is the highest probability of all candidates.
    """

    inside: IndexResults
    found: ScoredResults
    worth: ScoredResults
    shown: ScoredResults
    best: float | None


class Judge(Protocol):
    """`bot.search.judge.judge.HostJudge` for one repository, or what stands for it in a replay."""

    @property
    def floor(self) -> float:
        """The least probability of candidates that it reads."""

    def opinion(self, pairs: JudgeQuestion, author: str) -> JudgeAnswer:
        """Its verdicts. A model that fails is reported in the opinion, and never raises."""

    def probability(self, before: float, opinion: JudgeAnswer, number: int) -> float:
        """The probability of candidate `number` that had the probability `before`, given its verdict (J5)."""


def worth_judging(found: ScoredResults, target: Issue, floor: float) -> ScoredResults:
    """The candidates that the judge reads: the likeliest of the target's repository, as many as fit one question."""
    worth = [
        (result, one)
        for result, one in found
        if result.confidence >= floor and is_own(one.issue, target) and not result.named
    ]
    return sorted(worth, key=lambda pair: -pair[0].confidence)[:MOST_JUDGED]


def ask_judge(judge: Judge, target: Issue, worth: ScoredResults, index: Index | None, repo_id: int) -> JudgeAnswer:
    """Have the judge read these. Do not hold a connection to the database meanwhile: it takes seconds."""
    issues = [target, *(one.issue for _, one in worth)]
    bodies = texts_by_line(index, repo_id, issues)
    texts = [
        JudgeIssue(one.number, one.title, bodies[one.number], one.state, one.created_at, one.closed_at)
        for one in issues
    ]
    return judge.opinion(JudgeQuestion(texts[0], tuple(texts[1:])), target.author.login)


def with_opinion(found: ScoredResults, judge: Judge, opinion: JudgeAnswer, by: Relevance) -> ScoredResults:
    """The results with the judge's verdicts and probabilities, in their new order."""
    told = [(_told(result, one, judge, opinion, by), one) for result, one in found]
    return sorted(told, key=lambda pair: -pair[0].relevance)


def _told(result: RankedResult, one: ScoredIssue, judge: Judge, opinion: JudgeAnswer, by: Relevance) -> RankedResult:
    said = opinion.said.get(one.issue.number)
    if said is None or result.named:
        return result
    sure = judge.probability(result.confidence, opinion, one.issue.number)
    cause = (Reason(ReasonCode.CAUSE, (said.shared_cause,)),) if said.shared_cause else ()
    return replace(
        result,
        confidence=sure,
        relevance=sure if by is Relevance.LEARNED else result.relevance,
        reasons=(*cause, *result.reasons),
        verdict=said.verdict,
        judged_by=opinion.by,
        unjudged=result.confidence,
    )


def judge_problems(opinion: JudgeAnswer) -> tuple[SourceProblem, ...]:
    """What is told where there is no answer (J3)."""
    return () if opinion.problem is None else (SourceProblem(JUDGE, opinion.problem),)
