"""Labelled pairs as what they say of the bar: how likely a comment was, and whether it was right. Pure.

Only people's verdicts count: what they say of something that they were shown. Marks are another matter. Who closes an
issue as a duplicate of what the bot held back has found that without it, and who finds nothing says nothing; so marks
tell of what is there and never of what is not, and a bar that follows them would end at what people mark (P1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.decisions import Decision, Evidence
from bot.feedback.examples import by_issue
from bot.feedback.model import Example
from bot.judgements import Kind

MARKS = frozenset({Kind.CLOSED, Kind.OF})
"""What is a verdict on a comment that names the pair, and else a mark."""


@dataclass(frozen=True, slots=True)
class Point:
    """One issue's comment (or what would have been one): `right` or wrong from a bar of `probability` downwards.

    `weight` is in (0, 1].
    """

    probability: float
    right: bool
    weight: float


def points(decisions: Iterable[Decision], made: Iterable[Example]) -> list[Point]:
    """What the examples say of the comments on each issue, those in shadow and the silent ones too.

    A comment is right where it names an issue that somebody says is the same, up to the bar at which that one is named;
    it is wrong where each issue that it names is said to be another one. Several who say the same count as the one of
    them who counts most, so that nobody gains by repetition. Looks with the same likeliest candidate are one comment:
    the first of them, which people have seen first. Where `not` has brought another one up, that is another comment.
    """
    looks: dict[int, dict[int, Decision]] = {}
    for decision in sorted(decisions, key=lambda one: one.at):
        if named := _named(decision):
            looks.setdefault(decision.number, {}).setdefault(named[0].number, decision)
    found: list[Point] = []
    for number, said in by_issue(made).items():
        comments = list(looks.get(number, {}).values())
        found += _for(comments, said)
        for comment in comments:
            found += _against(comment, said)
    return found


def _named(decision: Decision) -> tuple[Evidence, ...]:
    """What the comment names; for a silent one all that it could have named."""
    return decision.shown or tuple(one for one in decision.evidence if one.own)


def _for(comments: Sequence[Decision], made: Sequence[Example]) -> Iterator[Point]:
    """The weight of what is right from each bar downwards: a lower one can only add to it."""
    agreed = [
        (known.probability, one.weight)
        for one in made
        if one.same and (known := next((it for comment in comments if (it := comment.about(one.other))), None))
        if known.shown or one.kind not in MARKS
    ]
    counted = 0.0
    for probability, weight in sorted(agreed, reverse=True):
        if weight > counted:
            yield Point(probability, right=True, weight=weight - counted)
            counted = weight


def _against(comment: Decision, made: Sequence[Example]) -> Iterator[Point]:
    """The weight of what is wrong up to the bar at which the first of it is named."""
    named = _named(comment)
    if weight := _rejected(named, made):
        yield Point(named[0].probability, right=False, weight=weight)


def _rejected(named: Sequence[Evidence], made: Sequence[Example]) -> float:
    """By how much weight all that is named is said to be something else; 0 where something is not."""
    return min(
        max((one.weight for one in made if not one.same and candidate.is_about(one.other)), default=0.0)
        for candidate in named
    )
