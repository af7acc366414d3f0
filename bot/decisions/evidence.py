"""From the finder's report to the evidence of a decision. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from bot.decisions.model import Evidence
from bot.model import name_key
from bot.report import Candidate, Considered, Report

ALSO_MOST = 10
"""Members of a candidate's group that are kept by number."""


def evidence(report: Report, shown: Iterable[Candidate]) -> tuple[Evidence, ...]:
    """The best candidates of a report, of which the comment names those that are `shown`."""
    named = {_key(one) for one in shown}
    return tuple(
        Evidence(
            number=one.number,
            probability=one.confidence,
            rank=rank,
            shown=_key(one) in named,
            sources={name: one.ranks.get(name) for name in one.sources},
            titles=(one.similarity, one.title_ratio),
            # The words of the issues that a reason quotes are not kept.
            reasons=tuple(reason.shared.value for reason in one.reasons),
            also=one.also[:ALSO_MOST],
            kind=one.kind,
            repo=one.repo,
        )
        for rank, one in enumerate(report.considered, 1)
    )


def _key(one: Candidate | Considered) -> tuple[str, str, int]:
    return one.kind, name_key(one.repo), one.number
