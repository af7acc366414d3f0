"""The evidence of a find: its best candidates, named in the end or not, and where each source had them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.model import Issue
from bot.ranking.presenting import Result, kind_of, same_place
from bot.ranking.similarity import dice_sorensen, title_ratio
from bot.report import Considered
from bot.sources import Answer, key_of

MOST_CONSIDERED = 10
"""More than a comment ever names; what stands below says nothing about a decision."""


def considered(
    target: Issue, results: Sequence[Result], inside: Mapping[str, Sequence[int]], answers: Sequence[Answer]
) -> tuple[Considered, ...]:
    """The `results`, best first, as evidence. `inside` are the numbers that the index found, by source."""
    here = str(target.repo).lower()
    places = {name: {f"{here}#{number}": at for at, number in enumerate(found, 1)} for name, found in inside.items()}
    for answer in answers:
        known = places.setdefault(answer.source, {})
        for found in answer.lists:
            for at, issue in enumerate(found, 1):
                key = key_of(issue)
                known[key] = min(at, known.get(key, at))
    keyed = [(one, key_of(one.issue)) for one in results]
    return tuple(
        Considered(
            number=one.issue.number,
            confidence=one.confidence,
            similarity=dice_sorensen(target.title, one.issue.title),
            title_ratio=title_ratio(target.title, one.issue.title),
            sources=one.sources,
            ranks={name: places[name][key] for name in one.sources if key in places.get(name, ())},
            kind=kind_of(one.issue),
            repo="" if same_place(one.issue, target) else str(one.issue.repo),
            also=one.also,
            reasons=one.reasons,
        )
        for one, key in keyed
    )
