"""What a judge says of the likeliest candidates, between how they are weighed and what is shown (J2, J5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from bot.domain.entities import Issue
from bot.domain.errors import SourceProblem
from bot.domain.judge_protocol import JUDGE, MOST_JUDGED, JudgeAnswer, JudgeIssue, JudgeQuestion
from bot.domain.report import Reason, ReasonCode
from bot.search.finder.reporting import Result, is_own, texts_by_line
from bot.search.finder.weighing import Inside, Weighed
from bot.search.index import Index
from bot.search.ranking.relevance import Relevance

Found = list[tuple[Result, Weighed]]


@dataclass(frozen=True, slots=True)
class Draft:
    """What was found, best first: what of it is `worth` asking the judge about, and what is `shown` where nothing is.
    `best` is the highest probability of all that was compared.
    """

    inside: Inside
    found: Found
    worth: Found
    shown: Found
    best: float | None


class Judge(Protocol):
    """`bot.search.judge.judge.Judge` for one repository, or what stands for it in a replay."""

    @property
    def floor(self) -> float:
        """The least probability of what it is asked about."""
        ...

    def opinion(self, pairs: JudgeQuestion, author: str) -> JudgeAnswer:
        """What it says. Never raises for its model's sake."""
        ...

    def probability(self, before: float, opinion: JudgeAnswer, number: int) -> float:
        """How likely a candidate is the same after what was said, if anything (J5)."""
        ...


def worth_judging(found: Found, target: Issue, floor: float) -> Found:
    """The candidates that the judge is asked about: the target's own repository's, and no more than fit a question."""
    worth = [
        (result, one)
        for result, one in found
        if result.confidence >= floor and is_own(one.issue, target) and not result.named
    ]
    return sorted(worth, key=lambda pair: -pair[0].confidence)[:MOST_JUDGED]


def ask(judge: Judge, target: Issue, worth: Found, index: Index | None, repo_id: int) -> JudgeAnswer:
    """Ask about these. Not to be called while a connection to the database is held."""
    issues = [target, *(one.issue for _, one in worth)]
    bodies = texts_by_line(index, repo_id, issues)
    texts = [
        JudgeIssue(one.number, one.title, bodies[one.number], one.state, one.created_at, one.closed_at)
        for one in issues
    ]
    return judge.opinion(JudgeQuestion(texts[0], tuple(texts[1:])), target.author.login)


def judged(found: Found, judge: Judge, opinion: JudgeAnswer, by: Relevance) -> Found:
    """The candidates as they are after that, in their new order."""
    told = [(_told(result, one, judge, opinion, by), one) for result, one in found]
    return sorted(told, key=lambda pair: -pair[0].relevance)


def _told(result: Result, one: Weighed, judge: Judge, opinion: JudgeAnswer, by: Relevance) -> Result:
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


def problems(opinion: JudgeAnswer) -> tuple[SourceProblem, ...]:
    """What is told where there is no answer (J3)."""
    return () if opinion.problem is None else (SourceProblem(JUDGE, opinion.problem),)
