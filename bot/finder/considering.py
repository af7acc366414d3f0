"""The evidence of a find: its best candidates, named in the end or not, and where each source had them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.model import Issue, IssueRef
from bot.ranking.presenting import Result, kind_of
from bot.ranking.similarity import dice_sorensen, title_ratio
from bot.report import Considered
from bot.sources.protocol import Answer

MOST_CONSIDERED = 10
"""More than a comment ever names; what stands below says nothing about a decision."""


def considered(
    target: Issue, results: Sequence[Result], inside: Mapping[str, Sequence[int]], answers: Sequence[Answer]
) -> tuple[Considered, ...]:
    """The `results`, best first, as evidence. `inside` are the numbers that the index found, by source."""
    places = {
        name: {IssueRef(target.repo, number).key: at for at, number in enumerate(found, 1)}
        for name, found in inside.items()
    }
    for answer in answers:
        known = places.setdefault(answer.source, {})
        for found in answer.lists:
            for at, issue in enumerate(found, 1):
                known[issue.key] = min(at, known.get(issue.key, at))
    keyed = [(one, one.issue.key) for one in results]
    return tuple(
        Considered(
            number=one.issue.number,
            confidence=one.confidence,
            similarity=dice_sorensen(target.title, one.issue.title),
            title_ratio=title_ratio(target.title, one.issue.title),
            sources=one.sources,
            ranks={name: places[name][key] for name in one.sources if key in places.get(name, ())},
            kind=kind_of(one.issue),
            repo="" if one.issue.repo.key == target.repo.key else str(one.issue.repo),
            also=one.also,
            reasons=one.reasons,
        )
        for one, key in keyed
    )
