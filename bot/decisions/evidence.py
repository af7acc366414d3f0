"""From the finder's report to the evidence of a decision. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.decisions.model import Evidence
from bot.model import name_key
from bot.ranking.reasons import Shared, recognise
from bot.report import Candidate, Considered, Report

ALSO_MOST = 10
"""Members of a candidate's group that are kept by number."""

# What is kept of a reason: the words of the issues that its sentence quotes are not.
_KINDS: Mapping[Shared, str] = {
    Shared.COPY: "all of title and text",
    Shared.MESSAGE: "error text",
    Shared.IDENTIFIERS: "identifiers",
    Shared.TITLES: "words of titles",
    Shared.WORDS: "words",
    Shared.GITHUB: "GitHub's verdict",
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
    recognised = (recognise(reason)[0] for reason in reasons)
    return tuple(_KINDS[shared] for shared in recognised if shared is not None)


def _key(one: Candidate | Considered) -> tuple[str, str, int]:
    return one.kind, name_key(one.repo), one.number
