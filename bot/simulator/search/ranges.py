"""The values of number and date qualifiers: `5`, `>5`, `>=5`, `<5`, `<=5`, `5..9`, `5..*`, `*..9`.

Source: GitHub's "Understanding the search syntax". A date means its whole day: `>2016-04-29` begins on the 30th.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.simulator.search.errors import unrecognised_date

_COMPARISON = re.compile(r"(>=|<=|>|<)?(.*)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,18}")
_DATE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?)"
    r"(?:T(?P<time>\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?P<zone>Z|[+ -]\d\d:?\d\d)?)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers from `low` up to, but not including, `high`."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value < self.high


_NOTHING = Interval(0.0, 0.0)


def numbers(value: str) -> Interval:
    """The whole numbers that a value such as `>5` allows; none if the value has another form."""
    try:
        return _interval(value, _number)
    except ValueError:
        return _NOTHING


def times(value: str) -> Interval:
    """The Unix times that a value such as `2016-04-30..2016-07-04` allows. Raises QueryError for other values."""
    try:
        return _interval(value, _date)
    except (ValueError, OverflowError):
        raise unrecognised_date(value) from None


def _interval(value: str, read: Callable[[str], Interval]) -> Interval:
    low, dots, high = value.partition("..")
    if dots:
        return Interval(
            float("-inf") if low == "*" else read(low).low,
            float("inf") if high == "*" else read(high).high,
        )
    comparison, operand = _COMPARISON.fullmatch(value).groups()  # type: ignore[union-attr]  # It matches any text.
    operand_interval = read(operand)
    match comparison:
        case ">":
            return Interval(operand_interval.high, float("inf"))
        case ">=":
            return Interval(operand_interval.low, float("inf"))
        case "<":
            return Interval(float("-inf"), operand_interval.low)
        case "<=":
            return Interval(float("-inf"), operand_interval.high)
        case _:
            return operand_interval


def _number(text: str) -> Interval:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return Interval(int(text), int(text) + 1)


def _date(text: str) -> Interval:
    """A year, month, day or second, by default in UTC. A time without seconds means the first second of its minute."""
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    year, month, day = int(match["year"]), int(match["month"] or 1), int(match["day"] or 1)
    start = datetime(year, month, day, tzinfo=UTC)
    if match["time"]:
        # An unencoded plus sign in a URL arrives as a space.
        zone = (match["zone"] or "Z").upper().replace(" ", "+")
        second = datetime.fromisoformat(f"{start:%Y-%m-%d}T{match['time']}{zone}").timestamp()
        return Interval(second, second + 1)
    if match["day"]:
        return Interval(start.timestamp(), start.timestamp() + _DAY)
    # A year ends in December. Every month has a 28th, and five days later it is the next month.
    in_last_month = start.replace(month=month if match["month"] else 12, day=28)
    following = (in_last_month + timedelta(days=5)).replace(day=1)
    return Interval(start.timestamp(), following.timestamp())
