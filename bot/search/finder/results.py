"""Builds the parts of a report: the outcome (F9), the counts (H4), the candidates, their texts, and the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bot.domain.entities import Issue, IssueRef, RepoRef
from bot.domain.errors import GitHubError, Retryable, SourceProblem
from bot.domain.judge_protocol import JudgeVerdict
from bot.domain.report import Candidate, Evidence, ItemKind, QueryRun, Reason, SearchOutcome
from bot.github.batched_reads import WorkflowStates
from bot.search.index import Index
from bot.search.ranking.similarity import dice_sorensen, title_ratio
from bot.search.sources import GitHubReads, SourceResult, collapse_discussions
from bot.search.sources.federated import FULL_TEXT, Gathered
from bot.search.sources.github import GitHubLexical
from bot.text.terms import own_text


@dataclass(frozen=True, slots=True)
class RankedResult:
    """One result of a search: a single issue, or the lead of a group of duplicates.

    Results are sorted by `relevance`. `also` has the numbers of the group's other members. `named` says that the
    target's text already names the issue. If a judge has read the issue, `verdict` is the judge's verdict, `judged_by`
    names the judge, and `unjudged` is the confidence without the verdict.
    """

    issue: Issue
    confidence: float
    relevance: float
    sources: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    also: tuple[int, ...] = ()
    named: bool = False
    verdict: JudgeVerdict | None = None
    judged_by: str = ""
    unjudged: float | None = None


def present(target: Issue, results: Iterable[RankedResult], workflow: WorkflowStates) -> tuple[Candidate, ...]:
    """Turn results into candidates of a report; the `workflow` states are for the target's own repository."""
    return tuple(
        Candidate(
            number=one.issue.number,
            title=one.issue.title,
            url=one.issue.url,
            state=one.issue.state,
            state_reason=one.issue.state_reason,
            labels=one.issue.labels,
            created_at=one.issue.created_at,
            similarity=dice_sorensen(target.title, one.issue.title),
            title_ratio=title_ratio(target.title, one.issue.title),
            relevance=one.relevance,
            confidence=one.confidence,
            workflow_state=workflow.states.get(one.issue.number) if is_own(one.issue, target) else None,
            workflow_state_reason=workflow.reason,
            reasons=one.reasons,
            sources=one.sources,
            kind=kind_of(one.issue),
            repo="" if one.issue.repo.key == target.repo.key else str(one.issue.repo),
            also=one.also,
            named=one.named,
            closed_at=one.issue.closed_at if one.issue.state == "closed" else None,
            verdict=one.verdict,
            unjudged=one.unjudged,
        )
        for one in results
    )


def is_own(issue: Issue, target: Issue) -> bool:
    """Whether this is an issue of the target's repository, and no pull request or discussion."""
    return not issue.is_pull_request and not issue.is_discussion and issue.repo.key == target.repo.key


def kind_of(issue: Issue) -> ItemKind:
    """What an `Issue` holds: an issue, a pull request or a discussion."""
    if issue.is_discussion:
        return "discussion"
    return "pull request" if issue.is_pull_request else "issue"


def outcome(runs: Sequence[QueryRun], problems: Sequence[SourceProblem], *, found: bool, usable: bool) -> SearchOutcome:
    """F9: an outage, or a search without usable words, is never presented as "no duplicates".

    If the repository's own index has answered, an incomplete search of GitHub does not make the answer doubtful.
    `usable` says whether there were any words to search for.
    """
    if any(not problem.skipped for problem in problems):
        return SearchOutcome.DEGRADED
    if found:
        return SearchOutcome.FOUND
    if any(run.source == FULL_TEXT for run in runs):
        return SearchOutcome.NONE
    asked = usable and any(run.hits is not None for run in runs)
    return SearchOutcome.NONE if asked and not any(run.incomplete for run in runs) else SearchOutcome.INCONCLUSIVE


def search_query(runs: Sequence[QueryRun]) -> str:
    """The query that the report names (F7): GitHub's first lexical query, or else the first query of all."""
    first = [run.query for run in runs if run.source == GitHubLexical.name] or [run.query for run in runs]
    return first[0] if first else ""


def counted(
    inside: Mapping[str, Sequence[int]], gathered: Gathered, target: Issue, only: Collection[str] = ()
) -> dict[str, int]:
    """Count all results, the unique ones, those that repeat another (`duplicates`), and the results of each source.

    `inside` is what the index found: for each of its sources, the numbers of issues in the target's repository. If
    `only` names sources, results of other sources do not count (H4).
    """
    inside = {name: numbers for name, numbers in inside.items() if not only or name in only}
    answers = [answer for answer in gathered.answers if not only or answer.source in only]
    hits = [hit for hit in collapse_discussions(gathered.hits) if not only or any(one in only for one in hit.sources)]
    total = sum(map(len, inside.values())) + sum(len(found) for answer in answers for found in answer.lists)
    unique = {IssueRef(target.repo, number).key for numbers in inside.values() for number in numbers}
    unique.update(hit.issue.key for hit in hits)
    by_source = Counter({name: len(set(numbers)) for name, numbers in inside.items()})
    # Only a source that answered gets a 0. A source that was not asked, or was too late, gets no count.
    by_source.update({answer.source: 0 for answer in answers if answer.runs})
    by_source.update(source for hit in hits for source in hit.sources if not only or source in only)
    return {"total": total, "unique": len(unique), "duplicates": total - len(unique), **by_source}


MOST_CONSIDERED = 10
"""The finder passes at most this many results to `considered`, because a comment never names more issues."""


def considered(
    target: Issue, results: Sequence[RankedResult], inside: Mapping[str, Sequence[int]], answers: Sequence[SourceResult]
) -> tuple[Evidence, ...]:
    """The `results` (best first) as evidence for a decision. `inside` is as in `counted`."""
    ranks = {
        name: {IssueRef(target.repo, number).key: rank for rank, number in enumerate(found, 1)}
        for name, found in inside.items()
    }
    for answer in answers:
        of_source = ranks.setdefault(answer.source, {})
        for found in answer.lists:
            for rank, issue in enumerate(found, 1):
                of_source[issue.key] = min(rank, of_source.get(issue.key, rank))
    return tuple(
        Evidence(
            number=one.issue.number,
            probability=one.confidence,
            rank=rank,
            # `decisions.evidence` sets `shown` for the candidates that the comment lists.
            shown=False,
            sources={name: ranks.get(name, {}).get(one.issue.key) for name in one.sources},
            titles=(dice_sorensen(target.title, one.issue.title), title_ratio(target.title, one.issue.title)),
            reasons=tuple(reason.code.value for reason in one.reasons),
            also=one.also,
            kind=kind_of(one.issue),
            repo="" if one.issue.repo.key == target.repo.key else str(one.issue.repo),
            verdict=one.verdict or "",
            judged_by=one.judged_by,
            unjudged=one.unjudged,
        )
        for rank, one in enumerate(results, 1)
    )


def own_texts(
    target: Issue,
    candidates: Sequence[Candidate],
    read: Iterable[Issue],
    github: GitHubReads,
    index: Index | None,
    repo_id: int,
) -> list[str]:
    """The text that each candidate's author wrote, on one line, without the form's text; empty if no text can be read.

    A text comes from the `index`, else from the issues already `read`. If both lack an issue of this repository, the
    text comes from GitHub. For example, no source may have found the lead of a group.
    """
    stored = _stored(index, repo_id, [one.number for one in candidates if one.own])
    bodies = {issue.key: issue.body for issue in read}

    def text(candidate: Candidate) -> str:
        ref = IssueRef(RepoRef.parse(candidate.repo) if candidate.repo else target.repo, candidate.number)
        if candidate.own and candidate.number in stored:
            return stored[candidate.number]
        if ref.key not in bodies and candidate.own:
            with suppress(GitHubError, Retryable):
                return own_text(github.issue(ref.repo, ref.number).body)
        return own_text(bodies.get(ref.key, ""))

    return [text(one) for one in candidates]


def _stored(index: Index | None, repo_id: int, numbers: Collection[int]) -> Mapping[int, str]:
    """The texts of the issues that the index holds. The index knows which lines come from the repository's forms."""
    if index is None or not numbers:
        return {}
    with index.view(repo_id) as view:
        texts = view.texts(numbers)
    return {number: _own_text_by_index(index, repo_id, number, title, body) for number, (title, body) in texts.items()}


def texts_by_line(index: Index | None, repo_id: int, issues: Iterable[Issue]) -> dict[int, str]:
    """By issue number, the text that the author wrote, line by line, without the lines of forms.

    Issues from the index come without a body, so this looks up empty bodies there.
    """
    texts = {one.number: (one.title, one.body) for one in issues}
    if index is None:
        return {number: own_text(body, between="\n") for number, (_, body) in texts.items()}
    with index.view(repo_id) as view:
        stored = view.texts([number for number, (_, body) in texts.items() if not body])
    return {
        number: _own_text_by_index(index, repo_id, number, title, body, "\n")
        for number, (title, body) in {**texts, **stored}.items()
    }


def _own_text_by_index(index: Index, repo_id: int, number: int, title: str, body: str, between: str = " ") -> str:
    boilerplate = index.analyse(repo_id, title, body, number).terms.get(index.analyser.supplied, {})
    return own_text(body, boilerplate, between)
