"""From judged issues to the candidates of a report (F7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.model import Issue
from bot.ranking.similarity import dice_sorensen, title_ratio
from bot.report import Candidate, Kind, Reason


@dataclass(frozen=True, slots=True)
class Result:
    """What is shown of one issue, or of a group of issues that repeat one another and that it leads.

    `relevance` is what the list is sorted by; `also` are the other members' numbers; `named` says that the target's
    text names it already.
    """

    issue: Issue
    confidence: float
    relevance: float
    sources: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    also: tuple[int, ...] = ()
    named: bool = False


def present(
    target: Issue,
    results: Iterable[Result],
    *,
    workflow_states: Mapping[int, str | None],
    workflow_reason: str = "",
) -> tuple[Candidate, ...]:
    """The candidates as reports carry them; `workflow_states` are those of the target's own repository, by number."""
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
            workflow_state=workflow_states.get(one.issue.number) if is_own(one.issue, target) else None,
            workflow_state_reason=workflow_reason,
            reasons=one.reasons,
            sources=one.sources,
            kind=kind_of(one.issue),
            repo="" if one.issue.repo.key == target.repo.key else str(one.issue.repo),
            also=one.also,
            named=one.named,
            closed_at=one.issue.closed_at if one.issue.state == "closed" else None,
        )
        for one in results
    )


def is_own(issue: Issue, target: Issue) -> bool:
    """Whether it is an issue, and no other thing, of the target's repository."""
    return not issue.is_pull_request and not issue.is_discussion and issue.repo.key == target.repo.key


def kind_of(issue: Issue) -> Kind:
    """What comes in the shape of an issue, by its name."""
    if issue.is_discussion:
        return "discussion"
    return "pull request" if issue.is_pull_request else "issue"
