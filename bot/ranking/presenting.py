"""From judged issues to the candidates of a report (F7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.model import Issue
from bot.ranking.judging import Judged
from bot.ranking.rarity import Rarity
from bot.ranking.reasons import Reasoner
from bot.report import Candidate


def present(
    target: Issue,
    judged: Iterable[Judged],
    rarity: Rarity,
    *,
    sources: Mapping[int, tuple[str, ...]],
    workflow_states: Mapping[int, str | None],
    workflow_reason: str = "",
) -> tuple[Candidate, ...]:
    """The candidates as reports carry them; `sources` and `workflow_states` are by issue number."""
    reasoner = Reasoner(target.title, target.body, rarity)
    return tuple(
        Candidate(
            number=one.issue.number,
            title=one.issue.title,
            url=one.issue.url,
            state=one.issue.state,
            state_reason=one.issue.state_reason,
            labels=one.issue.labels,
            created_at=one.issue.created_at,
            similarity=one.similarity,
            title_ratio=one.title_ratio,
            relevance=one.relevance,
            confidence=one.confidence,
            workflow_state=workflow_states.get(one.issue.number),
            workflow_state_reason=workflow_reason,
            reasons=reasoner.reasons(one.issue.title, one.issue.body),
            sources=sources.get(one.issue.number, ()),
        )
        for one in judged
    )
