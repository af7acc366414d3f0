"""A made-up evaluation, and the picture of it: docs/evaluation.svg shows what `doppel evaluate --picture` draws."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from bot.conversation.config.schema import MIN_CONFIDENCE
from bot.domain.likelihood import HIGHEST
from bot.quality.evaluation.charts import picture as draw
from bot.quality.evaluation.figures import evaluate
from bot.quality.evaluation.measures import JudgedArrival

ISSUES, ARRIVALS = 4_600, 4_000
# Of what a careful reader calls the same so much is marked.
MARKED = 0.4

_BEGUN = datetime(2024, 1, 1, tzinfo=UTC)
_LATER = 0.05


def picture() -> str:
    """The SVG document, the same every time."""
    chance = random.Random(7)  # noqa: S311
    judged = [_arrival(number, chance) for number in range(ARRIVALS)]
    arrived = [one.arrived for one in judged]
    return draw(evaluate(judged, issues=ISSUES, arrived=arrived, min_confidence=MIN_CONFIDENCE), "acme/app")


def _arrival(number: int, chance: random.Random) -> JudgedArrival:
    """One issue. Its first candidate is marked in a part of the cases in which it is the same; some have another."""
    confidence, place = HIGHEST * chance.random() ** 16, chance.randrange(2, 13)
    others = tuple((other, confidence / other) for other in range(2, 11))
    right, later = chance.random() < MARKED * confidence, chance.random() < _LATER
    wanted = frozenset({1 if right else place}) if right or later else None
    return JudgedArrival(f"arrival {number}", _BEGUN + timedelta(hours=6 * number), wanted, ((1, confidence), *others))
