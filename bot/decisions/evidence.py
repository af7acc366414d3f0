"""From the finder's report to the evidence of a decision. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.decisions.model import Evidence
from bot.report import Candidate, Considered, Report

ALSO_MOST = 10
"""Members of a candidate's group that are kept by number."""

# How the sentences of `bot/ranking/reasons.py` begin. What follows there are words of the issues, which are not kept.
_REASONS: Mapping[str, str] = {
    "Same error text": "error text",
    "Same identifiers": "identifiers",
    "Same words in both titles": "words of titles",
    "Same words": "words",
}


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
            reasons=_kinds(one.reasons),
            also=one.also[:ALSO_MOST],
            kind=one.kind,
            repo=one.repo,
        )
        for rank, one in enumerate(report.considered, 1)
    )


def _kinds(reasons: Iterable[str]) -> tuple[str, ...]:
    begun = (str(reason).partition(":")[0] for reason in reasons)
    return tuple(_REASONS[one] for one in begun if one in _REASONS)


def _key(one: Candidate | Considered) -> tuple[str, str, int]:
    return one.kind, one.repo.lower(), one.number
