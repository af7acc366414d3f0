"""What the pages show, as values for their templates. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.decisions import Decision, DecisionOutcome, Evidence
from bot.quality.calibration import Point
from bot.quality.feedback import Example

_WORDS: Mapping[DecisionOutcome, str] = {
    DecisionOutcome.POSTED: "commented",
    DecisionOutcome.EDITED: "changed its comment",
    DecisionOutcome.UNCHANGED: "left its comment as it was",
    DecisionOutcome.SHADOW: "would have commented",
    DecisionOutcome.SILENT: "said nothing",
    DecisionOutcome.LEFT_ALONE: "left it alone",
}
_BINS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One decision in a list: the issue, when, what came of it and its likeliest candidate, if there was any.

    `asks`: the newest one of its issue, and it named the candidate, or would have: people are asked if that was right.
    """

    number: int
    title: str
    at: datetime
    outcome: str
    speaks: bool
    reason: str
    bar: float
    best: Evidence | None
    asks: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """Comments whose probability was between `low` and `high`: what was said of them, as weights."""

    low: float
    high: float
    expected: float
    right: float
    wrong: float

    @property
    def share(self) -> float | None:
        """The share that was right; None where nobody said anything."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None


def outcome_words(decision: Decision) -> str:
    """What the bot did, in words that follow its name."""
    return _WORDS[decision.outcome]


def rows(
    decisions: Iterable[Decision], titles: Mapping[int, str], last: Mapping[int, float], moment: datetime
) -> list[Row]:
    """Decisions as rows; `last` has the time of each issue's newest one, and times are in the zone of `moment`."""
    return [
        Row(
            number=one.number,
            title=titles.get(one.number, ""),
            at=datetime.fromtimestamp(one.at, moment.tzinfo),
            outcome=outcome_words(one),
            speaks=one.outcome.speaks,
            reason=one.reason,
            bar=one.bar,
            best=one.evidence[0] if one.evidence else None,
            asks=one.at == last.get(one.number) and _names_own(one),
        )
        for one in decisions
    ]


def _names_own(decision: Decision) -> bool:
    return bool(decision.evidence) and decision.evidence[0].own and decision.evidence[0].shown


def parted(evidence: Sequence[Evidence], voted: Container[int]) -> tuple[list[Evidence], list[Evidence]]:
    """The candidates that get a row, and those of which it would say that they are 0% likely, and nothing else.

    The likeliest always has one, and so have those that were shown or voted on.
    """
    tells = [
        one.rank == 1 or one.shown or round(100 * one.probability) > 0 or (one.own and one.number in voted)
        for one in evidence
    ]
    rest = [one for one, tell in zip(evidence, tells, strict=True) if not tell]
    return [one for one, tell in zip(evidence, tells, strict=True) if tell], rest


def said(examples: Sequence[Example], moment: datetime) -> list[tuple[datetime, Example]]:
    """What people said, with the time in the zone of `moment`."""
    return [(datetime.fromtimestamp(one.at, moment.tzinfo), one) for one in examples]


def named(decisions: Iterable[Decision]) -> set[int]:
    """Every issue of the repository that is named in these decisions."""
    return {
        number
        for one in decisions
        for number in (one.number, *(candidate.number for candidate in one.evidence if candidate.own))
    }


def reliability(points: Sequence[Point]) -> list[Bin]:
    """How often the bot was right where it said that it was so likely: bins of a fifth, with what people said."""
    made = []
    for step in range(_BINS):
        low, high = step / _BINS, (step + 1) / _BINS
        inside = [one for one in points if low <= one.probability < high or (high == 1 and one.probability == 1)]
        right = sum(one.weight for one in inside if one.right)
        wrong = sum(one.weight for one in inside if not one.right)
        weight = right + wrong
        expected = sum(one.probability * one.weight for one in inside) / weight if weight else (low + high) / 2
        made.append(Bin(low, high, expected, right, wrong))
    return made
